/**
 * A request whose answer is still to come: its body is gathered within bounds, handled, and
 * answered.
 */

import type { Admission, Holder } from './admission.ts';
import type { Exchange } from './exchange.ts';
import type { Receiver, Reply } from './front/front.ts';
import type { HttpResponse, Route } from './handler.ts';
import type { Found } from './router.ts';

/**
 * Pieces of one body that are kept apart: a megabyte that comes byte by byte must not be a million
 * buffers.
 */
const PIECES_MAX = 128;

/** What a conversation needs of the server. */
export interface Desk {
  /** When a body that begins now has to be whole. */
  readonly bodyDeadlineMs: number;
  /** Not all of its body was there at once. */
  isSlow(conversation: Conversation): void;
  /** No more of its body is waited for. */
  isWhole(conversation: Conversation): void;
  write(reply: Reply, exchange: Exchange, response: HttpResponse, closes: boolean): void;
  /** A conversation is over. */
  left(): void;
}

interface ConversationParts {
  readonly desk: Desk;
  readonly reply: Reply;
  readonly exchange: Exchange;
  readonly found: Found<Route>;
  readonly admission: Admission;
  readonly holder: Holder;
}

export class Conversation implements Receiver {
  readonly deadlineMs: number;
  readonly #parts: ConversationParts;
  #pieces: Buffer[] = [];
  #length = 0;
  #state: 'reading' | 'handling' | 'over' = 'reading';
  #isAborted = false;

  constructor(parts: ConversationParts) {
    this.#parts = parts;
    this.deadlineMs = parts.desk.bodyDeadlineMs;
    // The rest of a body that nobody will look at is not waited for.
    void parts.exchange.ask(parts.found)?.then((refusal) => {
      if (refusal !== null && this.#state === 'reading') this.#settle(refusal);
    });
  }

  data(piece: Buffer, isLast: boolean): void {
    const { admission, desk, exchange, found, holder } = this.#parts;
    this.#length += piece.length;
    const isRoom = admission.keeps(holder, piece.length);
    if (this.#length > found.route.bodyBytesMax) this.#settle(exchange.tooLarge(found.route));
    else if (!isRoom) this.#settle(exchange.overloaded('bodies'));
    else {
      this.#keep(piece);
      if (isLast) this.#handle();
      else {
        exchange.bodyIsLate();
        desk.isSlow(this);
      }
    }
  }

  abort(): void {
    this.#isAborted = true;
    // A handler that has begun goes on, and is counted until it has ended.
    if (this.#state === 'reading') this.#leave();
  }

  /** The body has taken too long. */
  timeOut(): void {
    // The rest of that body would be waited for.
    const { exchange } = this.#parts;
    this.#settle(exchange.refuse(408, 'The body took too long to arrive.'), true);
  }

  #keep(piece: Buffer): void {
    if (piece.length > 0) this.#pieces.push(piece);
    if (this.#pieces.length > PIECES_MAX) this.#pieces = [Buffer.concat(this.#pieces)];
  }

  #handle(): void {
    const { desk, exchange, found } = this.#parts;
    this.#state = 'handling';
    desk.isWhole(this);
    const [first] = this.#pieces;
    const body =
      first !== undefined && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
    exchange.run(found, body, (response) => this.#settle(response));
  }

  #settle(response: HttpResponse, closes = false): void {
    const { desk, exchange, reply } = this.#parts;
    this.#leave();
    if (!this.#isAborted) desk.write(reply, exchange, response, closes);
  }

  #leave(): void {
    const { admission, desk, exchange, holder } = this.#parts;
    this.#state = 'over';
    this.#pieces = [];
    desk.isWhole(this);
    const leave = (): void => {
      admission.leave(holder, this.#length);
      desk.left();
    };
    // A question about him is part of what he holds: else who hangs up at once could ask without
    // bound.
    if (exchange.asked === null) leave();
    else void exchange.asked.then(leave);
  }
}
