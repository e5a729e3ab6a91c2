/**
 * The server's side of a connection (RFC 9113, 3.4, 8.1), as far as a simulator of providers needs
 * it: whole requests in, whole responses out, a limit of streams that may change, PING, and all the
 * ways in which a server may end a connection, properly or not.
 */

import type { Duplex } from 'node:stream';
import { CLIENT_PREFACE, Connection } from '../connection/connection.ts';
import { ConnectionError, ErrorCode, StreamError } from '../error.ts';
import { goAwayFrame } from '../frame/go-away.ts';
import type { Content } from '../frame/padding.ts';
import { pingFrame } from '../frame/ping.ts';
import { Setting } from '../frame/settings.ts';
import type { Field, FieldSection } from '../hpack/field.ts';
import { faultOfTrailers } from '../message/fields.ts';
import type { RequestHead } from '../message/request.ts';
import { RequestReader } from '../message/request.ts';
import { StreamTable } from '../stream/stream-table.ts';
import { ServerStream } from './server-stream.ts';

export interface ServerOptions {
  /** Streams that the client may open at once; further ones are refused. */
  readonly streamsMax: number;
  /** A lower limit, until `allowStreams` changes it. */
  readonly streamsMaxAtStart?: number;
  /**
   * The connection's window: octets that all requests together may have on their way; absent: more
   * than any client sends.
   */
  readonly windowOctets?: number;
  /** Octets kept of a request's body; the rest is cut off. */
  readonly bodyOctetsMax: number;
  /** Whether a response's end is an empty frame of its own, as some servers send it. */
  readonly endsApart: boolean;
}

export interface ServerEvents {
  opened(streamId: number): void;
  /** A whole request; `body` is valid during the call only. */
  requested(streamId: number, head: RequestHead, body: Buffer): void;
  /**
   * A stream has ended before its response: the client has reset it, broken a rule on it, or the
   * connection is gone.
   */
  lost?(streamId: number): void;
  /** The client sent a PING, which is answered already. */
  pinged?(): void;
  /** The answer to `sendPing`. */
  pingAcknowledged?(): void;
  closed(): void;
}

/**
 * The treatment of streams above a GOAWAY's last one: a server may ignore them (6.8), or refuse
 * them explicitly (8.7).
 */
type LaterStreams = 'refused' | 'ignored';

interface ServerResponse {
  readonly status: number;
  readonly fields: readonly Field[];
  readonly body: Buffer;
}

/** The newest gaps between stream identifiers that are kept; clients leave none, or a few. */
const PASSED_OVER_MAX = 64;
const SWEEP_EVERY_MS = 1_000;
const PING_DATA = Buffer.from('answered');
/** 6.8: a GOAWAY with it only announces another one. */
const STREAM_ID_MAX = 2 ** 31 - 1;

export class ServerConnection extends Connection<ServerStream> {
  readonly #options: ServerOptions;
  readonly #events: ServerEvents;
  readonly #requests = new RequestReader();
  #streamsMax: number;
  #highestStreamId = 0;
  /**
   * Ranges of identifiers that the client passed over: a stream that begins there comes too late
   * (5.1.1).
   */
  readonly #passedOver: (readonly [from: number, to: number])[] = [];
  /** Set by our GOAWAY. */
  #lastStreamId = Number.POSITIVE_INFINITY;
  #laterStreams: LaterStreams = 'refused';
  /** The limit of streams was lowered, and the client does not know yet. */
  #refusesAll = false;

  constructor(socket: Duplex, options: ServerOptions, events: ServerEvents) {
    super(socket, new StreamTable(options.streamsMax, () => new ServerStream()), {
      expectedPreface: CLIENT_PREFACE,
      sweepEveryMs: SWEEP_EVERY_MS,
      endsApart: options.endsApart,
      ...(options.windowOctets === undefined ? {} : { windowOctets: options.windowOctets }),
    });
    this.#options = options;
    this.#events = events;
    this.#streamsMax = options.streamsMaxAtStart ?? options.streamsMax;
    this.open([[Setting.MAX_CONCURRENT_STREAMS, this.#streamsMax]]);
  }

  get streamsOpen(): number {
    return this.streams.size;
  }

  get highestStreamId(): number {
    return this.#highestStreamId;
  }

  /**
   * Changes the limit of streams. Further ones are refused at once, which harms no client that does
   * not know the limit yet (8.7); open ones stay.
   */
  allowStreams(streamsMax: number): void {
    this.#streamsMax = streamsMax;
    this.demand([[Setting.MAX_CONCURRENT_STREAMS, streamsMax]]);
  }

  /**
   * Like `allowStreams`, but also refuses streams that the client began before it knew: those whose
   * requests are not complete, and those that come before it acknowledges (5.1.2 leaves this to the
   * endpoint that lowers its limit).
   */
  allowStreamsOnly(streamsMax: number): void {
    this.allowStreams(streamsMax);
    this.#refusesAll = true;
    for (const stream of this.streams.all()) {
      if (!stream.isRequested) this.reset(stream, ErrorCode.REFUSED_STREAM);
    }
  }

  /**
   * Responds to a request. False, without effect: its stream is closed meanwhile, or nothing is
   * sent any more.
   */
  respond(streamId: number, { status, fields, body }: ServerResponse): boolean {
    const stream = this.streams.find(streamId);
    if (stream === undefined || !stream.isRequested || this.isDeaf) return false;
    const isBare = body.length === 0;
    this.frames.fields(streamId, [statusField(status), ...fields], isBare);
    this.flood.earn();
    if (isBare) this.contentSent(stream);
    else this.content.send(stream, body);
    this.closeIfDrained();
    return true;
  }

  /** Ends a stream by RST_STREAM. */
  refuse(streamId: number, code: number): void {
    const stream = this.streams.find(streamId);
    if (stream !== undefined) this.reset(stream, code);
  }

  /**
   * Sends a PING after everything written before: its acknowledgement shows that the client has
   * read that.
   */
  sendPing(): void {
    this.output.write(pingFrame(PING_DATA, false));
  }

  /**
   * Serves streams up to this one and none above, then closes. May be sent again: the last one
   * never rises (6.8).
   */
  sendGoAway(
    streamId: number,
    code: number,
    text: string,
    laterStreams: LaterStreams = 'refused',
  ): void {
    const lastStreamId = Math.min(streamId, this.#lastStreamId);
    this.#lastStreamId = lastStreamId;
    this.#laterStreams = laterStreams;
    this.isDraining = true;
    this.output.write(goAwayFrame({ lastStreamId, code, debugData: Buffer.from(text) }));
    for (const stream of this.streams.all()) {
      if (stream.id > lastStreamId) this.#turnAway(stream);
    }
  }

  /** 6.8: asks for no new streams; another GOAWAY will name the last one. */
  announceGoAway(text: string): void {
    const debugData = Buffer.from(text);
    const lastStreamId = STREAM_ID_MAX;
    this.output.write(goAwayFrame({ lastStreamId, code: ErrorCode.NO_ERROR, debugData }));
  }

  /**
   * Closes the connection as after an error: sends the responses that are written, then a GOAWAY,
   * and nothing more.
   */
  abandon(streamId: number, code: number, text: string): void {
    this.#lastStreamId = Math.min(streamId, this.#lastStreamId);
    this.output.flush();
    this.fail(new ConnectionError(code, text));
  }

  /**
   * Neither reads nor responds from now on, and does not close, like a machine that has lost its
   * power.
   */
  freeze(): void {
    this.stopReading();
  }

  override fields(streamId: number, section: FieldSection, isEndStream: boolean): void {
    const stream = this.streams.find(streamId);
    if (stream !== undefined) this.#receiveTrailers(stream, section, isEndStream);
    else if (streamId <= this.#highestStreamId) this.#refuseBehind(streamId);
    else this.#open(streamId, section, isEndStream);
  }

  override goAway(): void {
    this.flood.spend();
    this.isDraining = true;
  }

  override ping(opaqueData: Buffer): void {
    super.ping(opaqueData);
    this.#events.pinged?.();
  }

  override pingAcknowledged(): void {
    this.flood.spend();
    this.#events.pingAcknowledged?.();
  }

  override settingsAcknowledged(): void {
    super.settingsAcknowledged();
    if (this.isObeyed) this.#refusesAll = false;
  }

  protected override receiveContent(
    stream: ServerStream,
    bytes: Buffer,
    { start, end }: Content,
    isEndStream: boolean,
  ): void {
    if (stream.isRequested) {
      throw new StreamError(stream.id, ErrorCode.STREAM_CLOSED, 'DATA after END_STREAM');
    }
    const { bodyOctetsMax } = this.#options;
    // Nearly always the whole body is in one frame. It need not be kept.
    if (isEndStream && stream.contentOctets === 0 && end - start <= bodyOctetsMax) {
      stream.contentOctets = end - start;
      this.#complete(stream, bytes.subarray(start, end));
      return;
    }
    stream.keep(bytes, start, end, bodyOctetsMax);
    if (isEndStream) this.#complete(stream, stream.content());
  }

  protected override receiveReset(stream: ServerStream): void {
    this.#lose(stream);
  }

  protected override remoteSettingApplied(): void {
    // All settings of a client concern the part that both sides have in common.
  }

  protected override isIdle(streamId: number): boolean {
    // 5.1.1: even identifiers are ours, and we open no streams.
    return streamId % 2 === 0 || streamId > this.#highestStreamId;
  }

  protected override contentSent(stream: ServerStream): void {
    this.closeStream(stream, true);
  }

  protected override streamFailed(stream: ServerStream): void {
    this.#lose(stream);
  }

  protected override streamLost(stream: ServerStream): void {
    this.#lose(stream);
  }

  protected override lastStreamId(): number {
    return Math.min(this.#highestStreamId, this.#lastStreamId);
  }

  protected override chunkRead(): void {
    // Nothing waits for free streams or windows here.
  }

  protected override swept(): void {
    // A request may wait for its response as long as the simulated provider likes.
  }

  protected override closed(): void {
    this.#events.closed();
  }

  #open(streamId: number, section: FieldSection, isEndStream: boolean): void {
    if (streamId % 2 === 0) {
      throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, `a client's stream ${streamId}`);
    }
    this.#passOver(streamId);
    this.#highestStreamId = streamId;
    if (streamId > this.#lastStreamId && this.#laterStreams === 'ignored') {
      this.flood.earn();
      return;
    }
    // 8.7: it is not processed, so that the client may send it again.
    if (streamId > this.#lastStreamId || !this.#hasRoom()) {
      this.flood.earn();
      this.frames.rstStream(streamId, ErrorCode.REFUSED_STREAM);
      return;
    }
    const stream = this.streams.open(streamId, this.remote.initialWindowOctets);
    const head = this.#requests.read(section);
    if (typeof head === 'string') throw new StreamError(streamId, ErrorCode.PROTOCOL_ERROR, head);
    stream.head = head;
    stream.contentLength = head.contentLength;
    this.#events.opened(streamId);
    if (isEndStream) this.#complete(stream, stream.content());
  }

  /** 5.1.1: the first use of an identifier closes all lower ones that were never used. */
  #passOver(streamId: number): void {
    const next = this.#highestStreamId === 0 ? 1 : this.#highestStreamId + 2;
    if (streamId === next) return;
    this.#passedOver.push([next, streamId - 2]);
    if (this.#passedOver.length > PASSED_OVER_MAX) this.#passedOver.shift();
  }

  /**
   * HEADERS on a stream below the highest that is not open: it is closed, or it may not begin any
   * more.
   */
  #refuseBehind(streamId: number): void {
    const highest = this.#highestStreamId;
    if (this.#passedOver.some(([from, to]) => streamId >= from && streamId <= to)) {
      const text = `stream ${streamId} begins after stream ${highest}`;
      throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, text);
    }
    this.checkClosed(streamId, 'HEADERS');
  }

  #lose(stream: ServerStream): void {
    const { id } = stream;
    this.closeStream(stream, false);
    this.#events.lost?.(id);
  }

  #hasRoom(): boolean {
    return this.streams.size < this.#streamsMax && !this.#refusesAll;
  }

  /** Ends a stream above a GOAWAY's last one, without having processed it. */
  #turnAway(stream: ServerStream): void {
    if (this.#laterStreams === 'refused') this.reset(stream, ErrorCode.REFUSED_STREAM);
    else this.closeStream(stream, false);
  }

  #receiveTrailers(stream: ServerStream, section: FieldSection, isEndStream: boolean): void {
    if (stream.isRequested) {
      throw new StreamError(stream.id, ErrorCode.STREAM_CLOSED, 'HEADERS after END_STREAM');
    }
    const fault = isEndStream ? faultOfTrailers(section) : 'trailers without END_STREAM';
    if (fault !== null) throw new StreamError(stream.id, ErrorCode.PROTOCOL_ERROR, fault);
    this.#complete(stream, stream.content());
  }

  #complete(stream: ServerStream, body: Buffer): void {
    const { id, head } = stream;
    if (head === null) throw new Error('a request without its head');
    if (!stream.isAsLongAsSaid) {
      throw new StreamError(id, ErrorCode.PROTOCOL_ERROR, 'not as long as content-length');
    }
    stream.isRequested = true;
    this.#events.requested(id, head, body);
  }
}

const STATUS_FIELDS = new Map<number, Field>();

/** One object per status, since they are few and come with every response. */
function statusField(status: number): Field {
  let field = STATUS_FIELDS.get(status);
  if (field === undefined) {
    field = { name: ':status', value: String(status), indexing: 'incremental' };
    STATUS_FIELDS.set(status, field);
  }
  return field;
}
