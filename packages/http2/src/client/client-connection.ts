/**
 * The client's side of a connection (RFC 9113, 3.4, 8.1): sends requests, ends each of them exactly
 * once, and obeys the peer's limit of streams as it changes. It never repeats a request, but
 * reports which ones may be repeated.
 */

import type { Duplex } from 'node:stream';
import { foreignText } from '../../../std/src/foreign-text.ts';
import { sweepEveryMs } from '../../../std/src/sweep.ts';
import { CLIENT_PREFACE, Connection } from '../connection/connection.ts';
import { HEADER_LIST_OCTETS_MAX } from '../connection/frame-receiver.ts';
import { ConnectionError, ErrorCode, errorCodeName, StreamError } from '../error.ts';
import type { GoAway } from '../frame/go-away.ts';
import type { Content } from '../frame/padding.ts';
import { pingFrame } from '../frame/ping.ts';
import type { Parameter } from '../frame/settings.ts';
import { Setting } from '../frame/settings.ts';
import type { FieldSection } from '../hpack/field.ts';
import { faultOfTrailers } from '../message/fields.ts';
import { ResponseReader } from '../message/response.ts';
import { StreamTable } from '../stream/stream-table.ts';
import type { Response, ResponseReceiver } from './client-stream.ts';
import { ClientStream, ReceivedResponse } from './client-stream.ts';
import type { KeepAliveOptions } from './keep-alive.ts';
import { KeepAlive } from './keep-alive.ts';
import type { RequestForm, RequestValue } from './request-form.ts';
import { PreparedRequest } from './request-form.ts';

export interface ClientOptions extends KeepAliveOptions {
  /** Streams open at once, however many more the peer would allow. */
  readonly streamsMax: number;
  /** A request without a complete answer after this time is cancelled. */
  readonly requestTimeoutMs: number;
  /** Octets kept of a response's body; the rest is not waited for. */
  readonly bodyOctetsMax: number;
}

/**
 * Never called from inside `send`; `closed` may be called from inside `drain`, `cancel` and
 * `destroy`.
 */
export interface ClientEvents {
  /** `capacity` may have grown. First called when the peer's SETTINGS have arrived. */
  freed(): void;
  /**
   * The connection takes no more requests: the peer wishes so, or no stream identifiers are left.
   * Requests under way go on. `code` is that of the peer's GOAWAY: after any but NO_ERROR, the peer
   * will hardly answer any more.
   */
  draining(reason: string, code: number): void;
  /** The connection is closed, and every request has ended. */
  closed(reason: string): void;
}

const NO_OCTETS = Buffer.alloc(0);
/** A GOAWAY may carry a text of 16 KiB; real ones carry a word or a line. */
const GOAWAY_TEXT_LENGTH_MAX = 1_024;
const PING_DATA = Buffer.from('liveness');
/** 5.1.1: a stream above it needs a new connection. */
const STREAM_ID_MAX = 2 ** 31 - 1;

export class ClientConnection extends Connection<ClientStream> {
  readonly #options: ClientOptions;
  readonly #events: ClientEvents;
  readonly #keepAlive: KeepAlive;
  readonly #responses = new ResponseReader();
  readonly #sweepsPerTimeout: number;
  #nextStreamId: number;
  #sweeps = 0;
  #isReady = false;
  /** The peer has not processed streams above it (6.8). */
  #lastStreamId = Number.POSITIVE_INFINITY;

  /**
   * `socket`: connected, with `h2` negotiated or agreed on. `firstStreamId` is for tests of the
   * last identifiers.
   */
  constructor(socket: Duplex, options: ClientOptions, events: ClientEvents, firstStreamId = 1) {
    const everyMs = sweepEveryMs(options.requestTimeoutMs);
    super(socket, new StreamTable(options.streamsMax, () => new ClientStream()), {
      expectedPreface: NO_OCTETS,
      sweepEveryMs: everyMs,
      endsApart: false,
    });
    this.#options = options;
    this.#events = events;
    this.#keepAlive = new KeepAlive(options);
    this.#sweepsPerTimeout = Math.ceil(options.requestTimeoutMs / everyMs);
    this.#nextStreamId = firstStreamId;
    this.output.write(CLIENT_PREFACE);
    this.open([
      [Setting.ENABLE_PUSH, 0],
      [Setting.MAX_HEADER_LIST_SIZE, HEADER_LIST_OCTETS_MAX],
    ]);
    // Flushed at once: the peer's first frames may wait in the socket already, and the answers to
    // them must not overtake this.
    this.output.flush();
  }

  /** The peer's SETTINGS have arrived: its limits are known. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /**
   * Requests that may be sent now. None while the connection's window is used up: their content
   * could not follow.
   */
  get capacity(): number {
    if (!this.#isReady || this.isDraining || this.isClosed || this.output.isBehind) return 0;
    if (this.content.connectionWindow <= 0) return 0;
    const streamsMax = Math.min(this.remote.streamsMax, this.#options.streamsMax);
    return Math.max(0, streamsMax - this.streams.size);
  }

  prepare(form: RequestForm): PreparedRequest {
    return new PreparedRequest(form);
  }

  /**
   * Sends a request that was prepared here; `receiver` learns of its end. `capacity` must be above
   * 0. `own`: the request's own content, if its form has such; copied before this returns. Returns
   * the stream's identifier, for `cancel`.
   */
  send(
    request: PreparedRequest,
    value: RequestValue,
    receiver: ResponseReceiver,
    own: Buffer = NO_OCTETS,
  ): number {
    if (this.capacity === 0) throw new Error('a request without a free stream');
    const id = this.#nextStreamId;
    const isWritten = this.#writeCompiled(request, value, id, own);
    // Throws when a field cannot be written, before the stream is opened.
    if (!isWritten) this.frames.fields(id, request.fieldsFor(value), !request.hasContent);
    const stream = this.#open(id, receiver);
    if (isWritten) stream.sendWindow -= request.contentOctets;
    else this.#sendRest(stream, request, value, own);
    this.flood.earn();
    this.#keepAlive.requested();
    return id;
  }

  /** Cancels a request without notifying its receiver. Without effect when it has ended. */
  cancel(streamId: number): void {
    const stream = this.streams.find(streamId);
    if (stream === undefined) return;
    this.reset(stream, ErrorCode.CANCEL);
    this.closeIfDrained();
  }

  override fields(streamId: number, section: FieldSection, isEndStream: boolean): void {
    const stream = this.streams.find(streamId);
    if (stream === undefined) {
      this.checkClosed(streamId, 'HEADERS');
      return;
    }
    if (stream.head === null) this.#receiveHead(stream, section, isEndStream);
    else this.#receiveTrailers(stream, section, isEndStream);
    if (isEndStream) this.#complete(stream, this.#keptResponse(stream));
  }

  override goAway({ lastStreamId, code, debugData }: GoAway): void {
    this.flood.spend();
    if (lastStreamId > this.#lastStreamId) {
      throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, 'GOAWAY with a rising last stream');
    }
    this.#lastStreamId = lastStreamId;
    const words = foreignText(debugData.toString(), GOAWAY_TEXT_LENGTH_MAX);
    const reason = `GOAWAY ${errorCodeName(code)}${words === '' ? '' : ` ${words}`}`;
    if (!this.isDraining) {
      this.isDraining = true;
      this.#events.draining(reason, code);
    }
    for (const stream of this.streams.all()) {
      if (stream.id > lastStreamId && this.streams.isOpen(stream)) this.#fail(stream, true, reason);
    }
  }

  override settings(parameters: readonly Parameter[]): void {
    super.settings(parameters);
    this.#isReady = true;
  }

  override pingAcknowledged(): void {
    this.flood.spend();
    this.#keepAlive.acknowledged();
  }

  override relieved(): void {
    super.relieved();
    if (!this.isClosed) this.#events.freed();
  }

  protected override receiveContent(
    stream: ClientStream,
    bytes: Buffer,
    { start, end }: Content,
    isEndStream: boolean,
  ): void {
    if (stream.head === null) {
      throw new StreamError(stream.id, ErrorCode.PROTOCOL_ERROR, 'DATA before HEADERS');
    }
    const { bodyOctetsMax } = this.#options;
    // Nearly always the whole body is in one frame. It need not be kept.
    if (isEndStream && stream.contentOctets === 0 && end - start <= bodyOctetsMax) {
      stream.contentOctets = end - start;
      this.#complete(stream, this.#response(stream, bytes, start, end));
      return;
    }
    stream.isTruncated = !stream.keep(bytes, start, end, bodyOctetsMax);
    if (isEndStream) this.#complete(stream, this.#keptResponse(stream));
    else if (stream.isTruncated) this.#cutShort(stream);
  }

  protected override receiveReset(stream: ClientStream, code: number): void {
    this.#fail(stream, code === ErrorCode.REFUSED_STREAM, errorCodeName(code));
  }

  protected override remoteSettingApplied([identifier, value]: Parameter): void {
    // 6.5.2: a server must not set ENABLE_PUSH to 1.
    if (identifier === Setting.ENABLE_PUSH && value !== 0) {
      throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, `ENABLE_PUSH ${value} from a server`);
    }
  }

  protected override isIdle(streamId: number): boolean {
    // 5.1.1: even identifiers are a server's, which may not open any stream.
    return streamId % 2 === 0 || streamId >= this.#nextStreamId;
  }

  protected override contentSent(): void {
    // The stream is half-closed (local) now; it ends with the answer.
  }

  protected override streamFailed(stream: ClientStream, error: StreamError): void {
    this.#fail(stream, false, `${errorCodeName(error.code)}: ${error.message}`);
  }

  protected override streamLost(stream: ClientStream, reason: string): void {
    const isUnprocessed =
      stream.id > this.#lastStreamId || stream.writtenAtFlush === this.output.flushes;
    this.#fail(stream, isUnprocessed, reason);
  }

  protected override lastStreamId(): number {
    return 0;
  }

  protected override chunkRead(): void {
    this.#keepAlive.heard();
    this.#events.freed();
  }

  protected override swept(nowMs: number): void {
    this.#sweeps += 1;
    const isSilent = this.#keepAlive.isSilentFor(this.#options.requestTimeoutMs, nowMs);
    let isLate = false;
    for (const stream of this.streams.all()) {
      if (this.#sweeps - stream.sentAtSweep <= this.#sweepsPerTimeout) continue;
      if (!this.streams.isOpen(stream)) continue;
      isLate = true;
      this.frames.rstStream(stream.id, ErrorCode.CANCEL);
      this.#fail(stream, false, 'no answer in time');
    }
    const step = this.#keepAlive.next(nowMs, isLate && isSilent);
    if (step === 'ping') this.output.writeAhead(pingFrame(PING_DATA, false));
    if (step === 'give-up') this.destroy('no answer to PING');
    else this.#events.freed();
  }

  protected override closed(reason: string): void {
    this.#events.closed(reason);
  }

  /** Writes every request but the first of its form. False: nothing was written. */
  #writeCompiled(request: PreparedRequest, value: RequestValue, id: number, own: Buffer): boolean {
    const { output, content } = this;
    if (content.isWaiting) return false;
    if (!request.serves(this.frames.encoder, value.length, own.length)) return false;
    const octets = request.octetsMax(value.length, own.length);
    // The content has fewer octets than the whole request.
    if (octets > content.connectionWindow || octets > this.remote.initialWindowOctets) return false;
    output.reserve(octets);
    output.offset = request.write(output.buffer, output.offset, id, value, own);
    content.connectionWindow -= request.contentOctets;
    return true;
  }

  #open(id: number, receiver: ResponseReceiver): ClientStream {
    const stream = this.streams.open(id, this.remote.initialWindowOctets);
    stream.receiver = receiver;
    stream.sentAtSweep = this.#sweeps;
    // Noted before any content is written: content that fills the buffer flushes it, and the
    // stream's HEADERS with it.
    stream.writtenAtFlush = this.output.flushes;
    this.#nextStreamId += 2;
    if (this.#nextStreamId > STREAM_ID_MAX) this.#useUp();
    return stream;
  }

  /** Sends the rest of a request that was not compiled, and compiles its form for the next one. */
  #sendRest(
    stream: ClientStream,
    request: PreparedRequest,
    value: RequestValue,
    own: Buffer,
  ): void {
    if (request.hasContent) this.content.send(stream, request.contentFor(value, own));
    if (!request.serves(this.frames.encoder, value.length, own.length))
      request.compile(this.frames.encoder, value.length);
  }

  #receiveHead(stream: ClientStream, section: FieldSection, isEndStream: boolean): void {
    const head = this.#responses.read(section);
    if (typeof head === 'string') throw new StreamError(stream.id, ErrorCode.PROTOCOL_ERROR, head);
    if (head.status >= 200) {
      stream.head = head;
      stream.contentLength = head.contentLength;
      return;
    }
    // 8.1: there may be any number of interim responses, and none of them ends the stream.
    this.flood.spend();
    if (!isEndStream) return;
    throw new StreamError(stream.id, ErrorCode.PROTOCOL_ERROR, `${head.status} with END_STREAM`);
  }

  #receiveTrailers(stream: ClientStream, section: FieldSection, isEndStream: boolean): void {
    const fault = isEndStream ? faultOfTrailers(section) : 'a second response without END_STREAM';
    if (fault !== null) throw new StreamError(stream.id, ErrorCode.PROTOCOL_ERROR, fault);
    stream.trailers = section.fields;
  }

  #complete(stream: ClientStream, response: Response): void {
    if (!stream.isAsLongAsSaid) {
      throw new StreamError(stream.id, ErrorCode.PROTOCOL_ERROR, 'not as long as content-length');
    }
    const { receiver } = stream;
    // 8.1: the answer is complete although not all of the request was sent. The rest is of no use.
    if (stream.pending !== null) this.frames.rstStream(stream.id, ErrorCode.CANCEL);
    this.closeStream(stream, true);
    receiver.answered(response);
  }

  /** The body is too long: hands over the part of the answer that has arrived. */
  #cutShort(stream: ClientStream): void {
    const { receiver } = stream;
    const response = this.#keptResponse(stream);
    this.reset(stream, ErrorCode.CANCEL);
    receiver.answered(response);
  }

  #keptResponse(stream: ClientStream): Response {
    const body = stream.content();
    return this.#response(stream, body, 0, body.length);
  }

  #response(stream: ClientStream, bytes: Buffer, start: number, end: number): Response {
    const { head } = stream;
    if (head === null) throw new Error('a response without its head');
    return new ReceivedResponse(head, stream, bytes, start, end);
  }

  #fail(stream: ClientStream, isUnprocessed: boolean, reason: string): void {
    const { receiver, head } = stream;
    this.closeStream(stream, false);
    receiver.failed({ isUnprocessed, reason, status: head?.status ?? null });
  }

  /** 5.1.1: there are no more identifiers. */
  #useUp(): void {
    this.isDraining = true;
    setImmediate(() => {
      if (this.isClosed) return;
      this.#events.draining('no stream identifiers left', ErrorCode.NO_ERROR);
    });
  }
}
