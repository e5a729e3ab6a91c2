/**
 * One connection of uWebSockets.js: one request after the other. Two of its objects reach it. The
 * handle is valid from open to close, over all requests; the `res` of a request until its answer.
 *
 * A use of either after its end reads freed memory. The letters of rules are those of this
 * package's README.
 */

import { DISCARD_TIMEOUT_MS, LINGER_MS } from '../../http1/src/connection.ts';
import type { Seat } from '../../http1/src/connection-table.ts';
import type { Crowd } from '../../http1/src/crowd.ts';
import type { Answer, Receiver, Reply, RequestHandler } from '../../http1/src/front.ts';
import type { ParsedHead } from '../../http1/src/head-fields.ts';
import { answerHead } from './answer-head.ts';
import type { ReadHead } from './head-reader.ts';
import { StreamedAnswer } from './streamed-answer.ts';
import type { Turn } from './turn.ts';
import type { UwsResponse } from './uws.ts';

/**
 * Rule (h): a caller who sends ahead gets so many answers at once. Then one waits for the end of
 * the turn, and uWebSockets.js closes the connection at the request after it: that bounds floods.
 * @limit requests of a connection that are answered in one turn of the event loop → closed
 */
const AT_ONCE_MAX = 32;
/**
 * Rule (i): uWebSockets.js itself keeps up to so much of a last answer, and closes the connection
 * when all of it is sent.
 */
const KEPT_BYTES_MAX = 16_384;
/**
 * uWebSockets.js keeps all of an answer without a body, and does not say whether it is sent.
 * @limit bytes of a connection's answers without a body, since its last one with a body → the next
 * is its last
 */
const BODILESS_BYTES_MAX = 65_536;
const CLOSE = '\r\nConnection: close';
const EMPTY = Buffer.alloc(0);

/** A request, before its connection is known. */
export interface ReadRequest extends ReadHead {
  readonly res: UwsResponse;
}

/** The part of the listener that a connection uses. */
export interface Reception {
  readonly handler: RequestHandler;
  readonly turn: Turn;
  /** Whether callers' ports are known: they show which connection a request belongs to. */
  readonly hasPorts: boolean;
  /** From an answer to the next request. */
  readonly idleTimeoutMs: number;
  /** From an answer until the system has taken all of it. */
  readonly answerTimeoutMs: number;
  /** From now on every connection ends with its next answer. */
  readonly isClosing: boolean;
  readonly crowd: Crowd<UwsConnection, UwsConnection>;
  /** Runs what uWebSockets.js may close this connection in. */
  writing(connection: UwsConnection, write: () => void): void;
  /** Closes the connection, now or when all input is read. */
  shut(connection: UwsConnection): void;
  /** A piece of a body has arrived. */
  chunk(connection: UwsConnection, chunk: ArrayBuffer, isLast: boolean): void;
  gone(connection: UwsConnection): void;
}

type Phase =
  /** A request is awaited. */
  | 'head'
  | 'body'
  /** The request is complete, its answer is not. */
  | 'owed'
  /** The last answer is out, or uWebSockets.js has it. */
  | 'closing'
  | 'gone';

/** How a connection closes whose last answer is complete. */
type Closing =
  /** uWebSockets.js has the rest of the answer, and closes when that is sent. */
  | 'by itself'
  /** All of the answer is sent. */
  | 'now'
  /** The end of a stream may not be sent, and uWebSockets.js does not report when it is. */
  | 'soon';

export class UwsConnection implements Reply {
  readonly address: string;
  /** 0: it is not known. */
  readonly port: number;
  readonly seat: Seat<UwsConnection>;
  readonly #handle: UwsResponse;
  readonly #reception: Reception;
  readonly #onGone: () => void;
  readonly #onChunk: (chunk: ArrayBuffer, isLast: boolean) => void;
  #phase: Phase = 'head';
  /** Before the first request, uWebSockets.js' own timeout counts. */
  #deadlineMs = Number.POSITIVE_INFINITY;
  #wasUsed = false;
  /** The request that is under way. Null: there is none, or its answer is complete. */
  #res: UwsResponse | null = null;
  #isAnswered = false;
  /** Null: the body is not wanted, or it is complete and answered. */
  #receiver: Receiver | null = null;
  /** Rule (m): its answer may close the connection, so it waits until all input is read. */
  #isChunked = false;
  /** Something of the body was reported. */
  #hasBegunBody = false;
  /** The connection ends with the next answer. */
  #isLast = false;
  #isCloseRead = false;
  #turn = 0;
  #begunInTurn = 0;
  /** Body of the answer that is being sent. */
  #body: Buffer = EMPTY;
  #unsentBytes = 0;
  /** Bytes of the answers without a body since the last one with a body, which was taken. */
  #bodilessBytes = 0;
  #stream: StreamedAnswer | null = null;

  constructor(handle: UwsResponse, address: string, port: number, reception: Reception) {
    this.#handle = handle;
    this.address = address;
    this.port = port;
    this.#reception = reception;
    this.#onGone = () => reception.gone(this);
    this.#onChunk = (chunk, isLast) => reception.chunk(this, chunk, isLast);
    this.seat = reception.crowd.enter(this, address);
    this.#arm();
  }

  /** Bytes of its answer that the system has not taken yet. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  get isGone(): boolean {
    return this.#phase === 'gone';
  }

  /** No request is under way. */
  get isIdle(): boolean {
    return this.#phase === 'head';
  }

  /** Its further input is no request any more. */
  get isEnding(): boolean {
    return this.#phase === 'closing';
  }

  /** Its answer is made, and not sent. The listener does not wait for streams when it closes. */
  get isWriting(): boolean {
    const isUnsent = this.#phase === 'closing' || (this.#isAnswered && this.#res !== null);
    return isUnsent && this.#stream === null;
  }

  begin({ res, head, isCloseRead }: ReadRequest): void {
    const { turn, handler } = this.#reception;
    this.#res = res;
    this.#wasUsed = true;
    this.#isAnswered = false;
    this.#hasBegunBody = false;
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    this.#begunInTurn = this.#turn === turn.number ? this.#begunInTurn + 1 : 1;
    this.#turn = turn.number;
    this.#isCloseRead = isCloseRead;
    this.#isLast = isCloseRead || 'status' in head || head.closes;
    this.#isChunked = 'kind' in head && head.framing.kind === 'chunked';
    if ('status' in head) {
      this.#finish();
      handler.refuse(head, this);
      return;
    }
    this.#phase = 'body';
    const { method, path, query, headers } = head;
    const request = { method, path, query, headers, remoteAddress: this.address };
    const receiver = handler.begin(request, this);
    if (!this.#isAnswered) this.#receiver = receiver;
  }

  /** For a request that has just begun: its body comes from now on. */
  awaitBody({ framing }: ParsedHead): void {
    if (this.#phase !== 'body') return;
    // Rule (f): with the head in two pieces, `onData` does not hear of an empty body.
    if (framing.kind === 'length' && framing.bytes === 0) {
      this.data(null, true);
      return;
    }
    this.#handle.onData(this.#onChunk);
    // Rule (g): `onData` does not hear of chunks before there is one.
    if (framing.kind === 'chunked') this.#reception.turn.after(() => this.#reportNoBody());
  }

  data(chunk: ArrayBuffer | null, isLast: boolean): void {
    if (this.#phase !== 'body') return;
    this.#hasBegunBody = true;
    const receiver = this.#receiver;
    // Rule (l): the memory of the chunk is uWebSockets.js' own, and used again.
    const piece =
      receiver === null || chunk === null || chunk.byteLength === 0
        ? EMPTY
        : Buffer.from(new Uint8Array(chunk));
    if (isLast) this.#finish();
    receiver?.data(piece, isLast);
  }

  send(answer: Answer): void {
    if (this.#res === null || this.#isAnswered) return;
    this.#isAnswered = true;
    this.#receiver = null;
    const { turn, hasPorts } = this.#reception;
    const isLate = !hasPorts || this.#isChunked || this.#begunInTurn > AT_ONCE_MAX;
    if (isLate && turn.isReading) turn.after(() => this.#write(answer));
    else this.#write(answer);
  }

  /**
   * Ends a wait that has exceeded its limit. Otherwise, if `mayExtend`, begins uWebSockets.js' own
   * timeout again, which has ten seconds.
   */
  tick(nowMs: number, mayExtend: boolean): void {
    if (nowMs >= this.#deadlineMs) {
      this.#reception.shut(this);
      return;
    }
    const mayStay = this.#phase === 'body' || (this.#phase === 'head' && this.#wasUsed);
    if (!mayExtend || !mayStay || this.#unsentBytes > 0) return;
    this.#handle.pause();
    this.#handle.resume();
  }

  /** Rule (d): the handle alone closes the connection, and `res` alone ends an answer. */
  close(): void {
    this.#handle.close();
  }

  /** The connection is closed. Rule (a): neither handle nor `res` is used from now on. */
  closed(): void {
    this.#phase = 'gone';
    this.#res = null;
    this.#body = EMPTY;
    this.#unsentBytes = 0;
    this.#receiver?.abort();
    this.#receiver = null;
    this.#stream?.close();
  }

  /** Rule (b): at the open, and in the turn of each answer: uWebSockets.js forgets it with that. */
  #arm(): void {
    this.#handle.onAborted(this.#onGone);
    // Without ports the first piece of the next body, which may be empty, shows whose it is.
    if (!this.#reception.hasPorts) this.#handle.onData(this.#onChunk);
  }

  #reportNoBody(): void {
    if (this.#phase === 'body' && !this.#hasBegunBody) this.data(null, false);
  }

  /** The request is complete. */
  #finish(): void {
    this.#phase = 'owed';
    this.#reception.crowd.works(this.seat);
    if (this.#res !== null) return;
    this.#next();
    // Rule (e): from inside the last `onData` it would be forgotten.
    if (!this.#reception.hasPorts) this.#reception.turn.after(() => this.#awaitNext());
  }

  #awaitNext(): void {
    if (this.#phase === 'head') this.#handle.onData(this.#onChunk);
  }

  #write(answer: Answer): void {
    const res = this.#res;
    if (res === null) return;
    const { status, body, isHead, stream } = answer;
    this.#isLast ||= answer.closes || stream !== undefined || this.#reception.isClosing;
    if (stream !== undefined && !isHead) {
      this.#writeStream(res, answerHead(answer, CLOSE), stream);
      return;
    }
    const bytes = Buffer.byteLength(body);
    const isBodiless = isHead || status === 204 || status === 304;
    const isEmpty = isBodiless || bytes === 0;
    this.#isLast ||= isEmpty && this.#bodilessBytes > BODILESS_BYTES_MAX;
    // Rule (i): uWebSockets.js closes after what it has all of; after other answers we do.
    const isKept = this.#isLast && !isBodiless && bytes <= KEPT_BYTES_MAX;
    const isSaid = this.#isLast && (!isKept || this.#isCloseRead);
    const head = answerHead(answer, (isHead ? lengthOf(answer) : '') + (isSaid ? CLOSE : ''));
    this.#bodilessBytes = isEmpty ? this.#bodilessBytes + head.length : 0;
    let isDone = true;
    this.#reception.writing(this, () =>
      res.cork(() => {
        res.writeStatus(head);
        if (isBodiless) res.endWithoutBody();
        else if (isKept || isEmpty) res.end(body, isKept);
        else isDone = res.tryEnd(body, bytes)[1];
      }),
    );
    if (isDone) this.#done(isKept ? 'by itself' : 'now');
    else this.#sendRest(res, typeof body === 'string' ? Buffer.from(body) : body);
  }

  #sendRest(res: UwsResponse, body: Buffer): void {
    this.#body = body;
    res.onWritable((offset) => this.#goOn(offset));
    this.#owe(body.length - res.getWriteOffset());
  }

  /** The system takes more of the answer. */
  #goOn(offset: number): boolean {
    const res = this.#res;
    if (res === null) return true;
    const { length } = this.#body;
    let isTaken = true;
    let isDone = false;
    this.#reception.writing(this, () => {
      [isTaken, isDone] = res.tryEnd(this.#body.subarray(offset), length);
    });
    if (isDone) this.#done('now');
    else this.#owe(length - res.getWriteOffset());
    return isTaken;
  }

  #owe(bytes: number): void {
    if (bytes === this.#unsentBytes) return;
    if (this.#unsentBytes === 0) {
      this.#deadlineMs = performance.now() + this.#reception.answerTimeoutMs;
    } else if (bytes === 0) this.#deadlineMs = Number.POSITIVE_INFINITY;
    this.#unsentBytes = bytes;
    this.#reception.crowd.owes(this);
  }

  /** The answer is complete. `closing`: counts when it is the last one. */
  #done(closing: Closing): void {
    if (this.isGone) return;
    this.#res = null;
    this.#body = EMPTY;
    this.#owe(0);
    this.#arm();
    if (this.#isLast) this.#end(closing);
    else if (this.#phase === 'owed') this.#next();
    else this.#deadlineMs = performance.now() + DISCARD_TIMEOUT_MS;
  }

  #end(closing: Closing): void {
    this.#phase = 'closing';
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    this.#reception.crowd.waits(this.seat);
    if (closing === 'now') this.#reception.turn.after(() => this.#reception.shut(this));
    else if (closing === 'soon') this.#deadlineMs = performance.now() + LINGER_MS;
  }

  /** Waits for the next request. */
  #next(): void {
    this.#phase = 'head';
    this.#deadlineMs = performance.now() + this.#reception.idleTimeoutMs;
    this.#reception.crowd.waits(this.seat);
  }

  #writeStream(
    res: UwsResponse,
    head: string | Buffer,
    stream: NonNullable<Answer['stream']>,
  ): void {
    res.cork(() => res.writeStatus(head));
    this.#stream = new StreamedAnswer({
      res,
      onUnsent: (bytes) => this.#owe(bytes),
      onTooMuch: () => this.#reception.shut(this),
      onEnd: () => this.#endStream(res),
    });
    this.#stream.begin(stream);
  }

  #endStream(res: UwsResponse): void {
    if (this.isGone) return;
    // Rule (j): with `true` it would write the field `Connection` into the chunks.
    this.#reception.writing(this, () => res.cork(() => res.end()));
    this.#done('soon');
  }
}

/** How long the body of an answer to HEAD is: with a length, uWebSockets.js waits for that body. */
function lengthOf({ status, body, stream }: Answer): string {
  if (status === 204 || status === 304) return '';
  return stream === undefined
    ? `\r\nContent-Length: ${Buffer.byteLength(body)}`
    : '\r\nTransfer-Encoding: chunked';
}
