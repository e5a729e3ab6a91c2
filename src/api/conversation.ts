/** A request that has no answer yet: its body is collected within limits, handled, and answered. */

import type { Receiver, Reply } from '../../packages/http1/src/front.ts';
import { parsedOctets } from '../http/body-weight.ts';
import type { HttpResponse, Route } from '../http/handler.ts';
import type { Found } from '../http/router.ts';
import type { Admission, Holder } from './admission.ts';
import type { Exchange } from './exchange.ts';

/** A megabyte that arrives byte by byte must not become a million buffers. */
const PIECES_MAX = 128;

export interface Desk {
  /** The deadline of a body that begins now. */
  readonly bodyDeadlineMs: number;
  isSlow(conversation: Conversation): void;
  isWhole(conversation: Conversation): void;
  write(reply: Reply, exchange: Exchange, response: HttpResponse, closes: boolean): void;
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
  /** Octets that its body becomes when it is parsed. */
  #parsed = 0;
  #state: 'reading' | 'handling' | 'over' = 'reading';
  #isAborted = false;

  constructor(parts: ConversationParts) {
    this.#parts = parts;
    this.deadlineMs = parts.desk.bodyDeadlineMs;
    // A refused request does not wait for the rest of its body.
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

  timeOut(): void {
    // Closes the connection, which would otherwise wait for the rest of that body.
    const { exchange } = this.#parts;
    this.#settle(exchange.refuse(408, 'The body took too long to arrive.'), true);
  }

  #keep(piece: Buffer): void {
    if (piece.length > 0) this.#pieces.push(piece);
    if (this.#pieces.length > PIECES_MAX) this.#pieces = [Buffer.concat(this.#pieces)];
  }

  #handle(): void {
    const { admission, desk, exchange, found, holder } = this.#parts;
    this.#state = 'handling';
    desk.isWhole(this);
    const [first] = this.#pieces;
    const body =
      first !== undefined && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
    // The text that the App API parses is gone before anything is awaited.
    this.#parsed = found.route.api === 'app' ? 0 : parsedOctets(body);
    if (admission.keeps(holder, this.#parsed)) {
      exchange.run(found, body, (response) => this.#settle(response));
    } else this.#settle(exchange.overloaded('bodies'));
  }

  #settle(response: HttpResponse, closes = false): void {
    const { desk, exchange, reply } = this.#parts;
    this.#leave();
    if (!this.#isAborted) desk.write(reply, exchange, response, closes);
  }

  #leave(): void {
    const { desk, exchange } = this.#parts;
    this.#state = 'over';
    this.#pieces = [];
    desk.isWhole(this);
    // A pending check counts in the share: hanging up at once would start any number of them.
    if (exchange.asked === null) this.#giveBack();
    else void exchange.asked.then(() => this.#giveBack());
  }

  #giveBack(): void {
    const { admission, desk, holder } = this.#parts;
    admission.leave(holder, this.#length + this.#parsed);
    desk.left();
  }
}
