/**
 * One connection: reads one request after the other, answers each before it reads the next one, and
 * limits the time of every wait. Requests sent ahead stay in the socket's buffer: reading pauses
 * until the answer is made and can be written.
 */

import type { Socket } from 'node:net';
import type { BodyStream } from './body-stream.ts';
import { ChunkedBody } from './chunked-body.ts';
import type { Seat } from './connection-table.ts';
import type { Crowd } from './crowd.ts';
import type { Answer, Malformed, Receiver, Reply, RequestHandler } from './front.ts';
import type { ParsedHead } from './head-fields.ts';
import type { HeadParser } from './parse-head.ts';
import { StreamedBody } from './streamed-body.ts';
import { writeAnswer } from './write-answer.ts';

/**
 * For the rest of a body whose request is answered already. The rest is discarded.
 * @limit time for the rest of a body that is refused already → closed
 */
export const DISCARD_TIMEOUT_MS = 30_000;
/**
 * If the connection closed at once, the caller's further bytes would be answered by a reset, and
 * the caller might lose the answer (RFC 9112, 9.6).
 * @limit time for the caller to close after the last answer → closed
 */
export const LINGER_MS = 2_000;
/**
 * The connection is closed when the caller takes nothing of an answer for this long.
 * @limit time in which nothing of an answer is taken → closed
 */
const WRITE_TIMEOUT_MS = 30_000;
/**
 * Request line and headers. Those of real clients have one or two KiB, tokens included.
 * @limit head of a request → `431`
 */
export const HEAD_BYTES_MAX = 16_384;
const HEAD_END = Buffer.from('\r\n\r\n');
const EMPTY = Buffer.alloc(0);
const CR = 0x0d;
const LF = 0x0a;

/** The part of the listener that a connection uses. */
export interface Reception {
  readonly handler: RequestHandler;
  readonly headParser: HeadParser;
  /** From the start of the connection, or the first byte of a head, to the end of the head. */
  readonly headTimeoutMs: number;
  /** From an answer to the next request. */
  readonly idleTimeoutMs: number;
  /** From an answer until the system has taken all of it. */
  readonly answerTimeoutMs: number;
  /** From now on every connection ends with its next answer. */
  readonly isClosing: boolean;
  readonly crowd: Crowd<Socket, Connection>;
  /**
   * Whether another request may begin in this turn of the event loop. False: the listener calls
   * `advance` in a later turn.
   */
  mayBegin(connection: Connection): boolean;
  left(connection: Connection): void;
}

/** A connection's place in the listener's table. */
export type ConnectionSeat = Seat<Socket>;

type Phase =
  /** A head is awaited, or arriving. */
  | 'head'
  | 'body'
  /** The request is complete, its answer is not. */
  | 'owed'
  /** The body of the last answer is made while it is sent. Further input is discarded. */
  | 'streaming'
  /** The last answer is out. Further input is discarded. */
  | 'closing'
  | 'closed';

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const TIMED_OUT: Malformed = {
  status: 408,
  detail: 'The head of the request took too long to arrive.',
};
const CUT_OFF: Malformed = {
  status: 400,
  detail: 'The connection ended within the head of the request.',
};
const TOO_LONG: Malformed = {
  status: 431,
  detail: `The head of a request may have ${HEAD_BYTES_MAX} bytes at most.`,
};
const NO_REQUEST: Malformed = { status: 400, detail: 'This is not an HTTP/1.1 request.' };

/** @limit requests of a connection that are handled at a time: one → they wait in the socket */
export class Connection implements Reply {
  readonly seat: ConnectionSeat;
  readonly #socket: Socket;
  readonly #reception: Reception;
  #phase: Phase = 'head';
  #deadlineMs: number;
  /** Input that is not processed yet. */
  #input: Buffer = EMPTY;
  /** Bytes of the input that were searched for the end of a head. */
  #searched = 0;
  /** The rest of the body: a number of bytes, or chunks. */
  #body: number | ChunkedBody = 0;
  /** Null: the body is not wanted, or it is complete and answered. */
  #receiver: Receiver | null = null;
  #isAnswered = false;
  /** The caller sends no request after this one. */
  #isLast = false;
  /** The caller has closed its side. */
  #isEnded = false;
  #isAdvancing = false;
  #isBlocked = false;
  /** The last number that the listener received. */
  #unsentBytes = 0;
  /** The time by which the system must have taken all of the last answer. */
  #answerDeadlineMs = Number.POSITIVE_INFINITY;
  /** Waits in the listener's queue for a later turn. */
  #isQueued = false;
  /** The caller waits for `100 Continue` before it sends the body. */
  #isAwaitingContinue = false;
  #streamed: StreamedBody | null = null;

  /** `socket`: in clear text, or after the TLS handshake. */
  constructor(socket: Socket, seat: ConnectionSeat, reception: Reception) {
    this.#socket = socket;
    this.seat = seat;
    this.#reception = reception;
    this.#deadlineMs = performance.now() + reception.headTimeoutMs;
    socket.on('data', (data: Buffer) => this.#read(data));
    socket.on('end', () => this.#end());
    socket.on('drain', () => this.#drained());
    socket.on('timeout', () => socket.destroy());
    // An error does not close a TLS socket by itself.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#close());
  }

  /**
   * Ends a wait that has exceeded its limit. The listener calls this at intervals, since a timer
   * for each connection would cost every connection.
   */
  tick(nowMs: number): void {
    if (this.#unsentBytes > 0) this.#countUnsent();
    if (this.#unsentBytes > 0 && nowMs >= this.#answerDeadlineMs) this.#socket.destroy();
    // While an answer is blocked, the socket's own timeout counts.
    if (nowMs < this.#deadlineMs || this.#isBlocked) return;
    if (this.#phase === 'head' && this.#input.length > 0) this.#refuse(TIMED_OUT);
    else this.#socket.destroy();
  }

  /** Bytes of its answers that the system has not taken yet. */
  get unsentBytes(): number {
    return this.#socket.writableLength;
  }

  /** Its last answer is or was a stream, which the listener does not wait for when it closes. */
  get hasStreamed(): boolean {
    return this.#streamed !== null;
  }

  /** The listener closes: this connection closes, too, unless it has a request under way. */
  release(): void {
    if (this.#phase === 'head' && this.#input.length === 0) this.#linger();
  }

  send(answer: Answer): void {
    if (this.#phase === 'closed' || this.#phase === 'closing') return;
    this.#receiver = null;
    this.#isAnswered = true;
    // A caller that waited for `100 Continue` may leave the body out after this answer. The next
    // bytes may then be a body or a request (RFC 9110, 10.1.1).
    const isUnclear = this.#isAwaitingContinue && this.#phase === 'body';
    const closes =
      answer.closes ||
      answer.stream !== undefined ||
      this.#isLast ||
      isUnclear ||
      this.#reception.isClosing;
    writeAnswer(this.#socket, answer, closes);
    if (this.unsentBytes > 0) {
      this.#answerDeadlineMs = performance.now() + this.#reception.answerTimeoutMs;
    }
    this.#countUnsent();
    if (answer.stream !== undefined && !answer.isHead) {
      this.#stream(answer.stream);
      return;
    }
    if (closes) {
      this.#linger();
      return;
    }
    if (this.#socket.writableNeedDrain) this.#block();
    if (this.#phase === 'owed') this.#next();
    else this.#deadlineMs = performance.now() + DISCARD_TIMEOUT_MS;
    this.#advance();
  }

  #stream(stream: BodyStream): void {
    this.#phase = 'streaming';
    this.#input = EMPTY;
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    this.#streamed = new StreamedBody({
      socket: this.#socket,
      onWritten: () => this.#wrotePiece(),
      onEnd: () => this.#linger(),
    });
    this.#streamed.begin(stream);
    this.#throttle();
  }

  #wrotePiece(): void {
    if (this.#unsentBytes === 0) {
      this.#answerDeadlineMs = performance.now() + this.#reception.answerTimeoutMs;
    }
    this.#countUnsent();
  }

  #read(data: Buffer): void {
    if (this.#phase === 'closing' || this.#phase === 'streaming') return;
    this.#input = this.#input.length === 0 ? data : Buffer.concat([this.#input, data]);
    this.#advance();
  }

  /** The listener calls this when the connection's turn has come. */
  advance(): void {
    this.#isQueued = false;
    this.#advance();
  }

  /** Reads as far as it can. */
  #advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    while (this.#mayRead && !this.#isQueued) {
      const before = this.#input.length;
      if (this.#phase === 'body') this.#readBody();
      else if (this.#reception.mayBegin(this)) this.#readHead();
      else this.#isQueued = true;
      if (this.#input.length === before) break;
    }
    this.#isAdvancing = false;
    this.#throttle();
  }

  get #mayRead(): boolean {
    return (
      this.#input.length > 0 &&
      !this.#isBlocked &&
      (this.#phase === 'head' || this.#phase === 'body')
    );
  }

  /**
   * Requests sent ahead stay in the socket's buffer. While there are none, reading goes on: only
   * that shows that a caller has left.
   */
  #throttle(): void {
    const isHeld = this.#phase === 'owed' || this.#isBlocked || this.#isQueued;
    if (isHeld && this.#input.length > 0) this.#socket.pause();
    else if (this.#socket.isPaused()) this.#socket.resume();
    if (this.#isEnded && !isHeld) this.#conclude();
  }

  /** The caller has ended its side, and the input is processed. */
  #conclude(): void {
    if (this.#phase === 'body' || this.#phase === 'streaming') this.#socket.destroy();
    else if (this.#phase === 'head' && this.#input.length > 0) this.#refuse(CUT_OFF);
    else this.#linger();
  }

  #readHead(): void {
    const start = this.#skipEmptyLines();
    const input = this.#input;
    const end = input.indexOf(HEAD_END, Math.max(start, this.#searched - HEAD_END.length + 1));
    if (end < 0) {
      this.#awaitHead(start);
      return;
    }
    this.#searched = 0;
    if (end > HEAD_BYTES_MAX) {
      this.#refuse(TOO_LONG);
      return;
    }
    const parsed = this.#reception.headParser.parse(input.toString('latin1', start, end));
    this.#input = after(input, end + HEAD_END.length);
    if ('kind' in parsed) this.#begin(parsed);
    else this.#refuse(parsed);
  }

  #awaitHead(start: number): void {
    const { length } = this.#input;
    const first = this.#input[start];
    const isEmptyLine = first === CR && start === length - 1;
    // Empty lines count, too: they are kept until the head is complete.
    if (length > HEAD_BYTES_MAX) this.#refuse(TOO_LONG);
    // For example a TLS handshake: it would otherwise be waited for until the timeout.
    else if (first !== undefined && !isEmptyLine && (first <= 0x20 || first >= 0x7f)) {
      this.#refuse(NO_REQUEST);
    } else if (this.#searched === 0 && length > 0) {
      this.#deadlineMs = Math.min(
        this.#deadlineMs,
        performance.now() + this.#reception.headTimeoutMs,
      );
    }
    this.#searched = length;
  }

  /** Skips empty lines before a request line (RFC 9112, 2.2): old clients send one after a body. */
  #skipEmptyLines(): number {
    const input = this.#input;
    let start = 0;
    while (input[start] === CR && input[start + 1] === LF) start += 2;
    return start;
  }

  #begin(head: ParsedHead): void {
    const { handler } = this.#reception;
    const { framing } = head;
    this.#phase = 'body';
    this.#isAnswered = false;
    this.#isLast ||= head.closes;
    this.#isAwaitingContinue = head.expectsContinue && this.#input.length === 0;
    this.#body = framing.kind === 'chunked' ? new ChunkedBody() : framing.bytes;
    const { method, path, query, headers } = head;
    const request = { method, path, query, headers, remoteAddress: this.seat.address };
    const receiver = handler.begin(request, this);
    // That call may have sent the last answer of this connection.
    if (this.#phase !== 'body') return;
    if (!this.#isAnswered) this.#receiver = receiver;
    if (this.#body === 0) this.#finish(EMPTY);
    else if (this.#receiver === null) this.#deadlineMs = performance.now() + DISCARD_TIMEOUT_MS;
    else {
      this.#deadlineMs = Number.POSITIVE_INFINITY;
      if (this.#isAwaitingContinue) this.#socket.write(CONTINUE, 'latin1');
      this.#isAwaitingContinue = false;
      // From now on the server limits the time for the rest.
      if (!this.#isWholeBodyHere) this.#receiver.data(EMPTY, false);
    }
  }

  get #isWholeBodyHere(): boolean {
    return typeof this.#body === 'number' && this.#body <= this.#input.length;
  }

  #readBody(): void {
    if (typeof this.#body === 'number') this.#readBytes(this.#body);
    else this.#readChunks(this.#body);
  }

  #readBytes(left: number): void {
    const input = this.#input;
    const piece = input.length <= left ? input : input.subarray(0, left);
    this.#input = after(input, piece.length);
    this.#body = left - piece.length;
    if (this.#body === 0) this.#finish(piece);
    else this.#receiver?.data(piece, false);
  }

  #readChunks(body: ChunkedBody): void {
    const read = body.read(this.#input);
    if ('status' in read) {
      this.#refuse(read);
      return;
    }
    this.#input = read.rest;
    if (read.isOver) this.#finish(read.data);
    else if (read.data.length > 0) this.#receiver?.data(read.data, false);
  }

  /** The body is complete. */
  #finish(piece: Buffer): void {
    if (this.#isAnswered) {
      this.#next();
      return;
    }
    this.#phase = 'owed';
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    this.#reception.crowd.works(this.seat);
    this.#receiver?.data(piece, true);
  }

  /** Waits for the next request. */
  #next(): void {
    this.#phase = 'head';
    this.#deadlineMs = performance.now() + this.#reception.idleTimeoutMs;
    this.#reception.crowd.waits(this.seat);
  }

  #refuse(malformed: Malformed): void {
    // It is not known where the next request begins.
    this.#receiver?.abort();
    this.#receiver = null;
    if (this.#isAnswered && this.#phase === 'body') this.#linger();
    else this.#reception.handler.refuse(malformed, this);
  }

  #block(): void {
    this.#isBlocked = true;
    this.#socket.setTimeout(WRITE_TIMEOUT_MS);
  }

  #countUnsent(): void {
    const bytes = this.unsentBytes;
    if (bytes === this.#unsentBytes) return;
    this.#unsentBytes = bytes;
    this.#reception.crowd.owes(this);
  }

  #drained(): void {
    this.#countUnsent();
    if (!this.#isBlocked) return;
    this.#isBlocked = false;
    this.#socket.setTimeout(0);
    if (this.#phase === 'head')
      this.#deadlineMs = performance.now() + this.#reception.idleTimeoutMs;
    this.#advance();
  }

  /** The last answer is out. */
  #linger(): void {
    if (this.#phase === 'closing' || this.#phase === 'closed') return;
    this.#phase = 'closing';
    this.#input = EMPTY;
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    this.#reception.crowd.waits(this.seat);
    this.#socket.setTimeout(WRITE_TIMEOUT_MS);
    this.#socket.end(() => {
      // The system has taken all of it.
      this.#deadlineMs = performance.now() + LINGER_MS;
    });
    this.#socket.resume();
  }

  /** The caller sends nothing more. It may still wait for answers. */
  #end(): void {
    this.#isEnded = true;
    this.#advance();
  }

  #close(): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    this.#receiver?.abort();
    this.#receiver = null;
    this.#streamed?.close();
    this.#input = EMPTY;
    this.#reception.left(this);
  }
}

/**
 * The input after this many bytes. Mostly it is empty: an empty view would cost as much as any
 * other.
 */
const after = (input: Buffer, bytes: number): Buffer =>
  bytes === input.length ? EMPTY : input.subarray(bytes);
