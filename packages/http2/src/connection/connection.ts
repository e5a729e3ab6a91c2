/**
 * The common part of client and server (RFC 9113): SETTINGS, PING, flow control, resets, and the
 * end of a connection. ClientConnection and ServerConnection decide what a field section or a
 * stream's end means.
 *
 * ```
 *   open ───GOAWAY of either side, drain()────► draining ───no stream left───► closed
 *     └───────────────────── an error, destroy(), the socket lost ──────────────►┘
 * ```
 */

import type { Duplex } from 'node:stream';
import { errorReason } from '../../../std/src/error-reason.ts';
import { FrameReader } from '../codec/frame-reader.ts';
import { FrameWriter } from '../codec/frame-writer.ts';
import type { OutputEvents } from '../codec/output.ts';
import { Output } from '../codec/output.ts';
import { ConnectionError, ErrorCode, errorCodeName, StreamError } from '../error.ts';
import type { GoAway } from '../frame/go-away.ts';
import { goAwayFrame } from '../frame/go-away.ts';
import type { Content } from '../frame/padding.ts';
import { pingFrame } from '../frame/ping.ts';
import type { Parameter } from '../frame/settings.ts';
import { INITIAL_WINDOW_OCTETS, SETTINGS_ACK, Setting, settingsFrame } from '../frame/settings.ts';
import type { FieldSection } from '../hpack/field.ts';
import type { Stream } from '../stream/stream.ts';
import type { StreamTable } from '../stream/stream-table.ts';
import { grownWindow, ReceiveWindow } from '../stream/window.ts';
import { ContentSender } from './content-sender.ts';
import { FloodGuard } from './flood-guard.ts';
import type { FrameEvents } from './frame-receiver.ts';
import { FrameReceiver } from './frame-receiver.ts';
import type { RemoteSettings } from './settings-exchange.ts';
import { applyParameter, initialRemoteSettings, LocalSettings } from './settings-exchange.ts';

/**
 * Octets that all streams together may have on the way to us. With the initial 65,535, five hundred
 * answers of some hundred octets would wait for each other. Memory does not grow with the window,
 * since content is taken as it arrives.
 */
const CONNECTION_WINDOW_OCTETS = 4 * 1_024 * 1_024;
/** After our GOAWAY the peer has this long to close; then the socket is destroyed. */
const LINGER_MS = 1_000;

/** RFC 9113, 3.4: the first octets of a client. */
export const CLIENT_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

interface ConnectionOptions {
  /** The octets that must come before the peer's first frame. */
  readonly expectedPreface: Buffer;
  /** The interval at which timeouts are checked. */
  readonly sweepEveryMs: number;
  /** Whether the end of content is an empty frame of its own, as some servers send it. */
  readonly endsApart: boolean;
  /**
   * Octets that all streams together may have on the way to us; absent: as many as the fastest peer
   * has.
   */
  readonly windowOctets?: number;
}

export abstract class Connection<S extends Stream> implements FrameEvents, OutputEvents {
  protected readonly output: Output;
  protected readonly frames: FrameWriter;
  protected readonly streams: StreamTable<S>;
  protected readonly content: ContentSender<S>;
  protected readonly flood = new FloodGuard();
  protected readonly remote: RemoteSettings = initialRemoteSettings();
  protected isDraining = false;
  readonly #socket: Duplex;
  readonly #reader: FrameReader;
  readonly #windowOctets: number;
  readonly #receiveWindow: ReceiveWindow;
  readonly #localSettings = new LocalSettings();
  readonly #sweeper: NodeJS.Timeout;
  #isClosed = false;
  #isFrozen = false;

  constructor(socket: Duplex, streams: StreamTable<S>, options: ConnectionOptions) {
    this.#socket = socket;
    this.streams = streams;
    this.#windowOctets = options.windowOctets ?? CONNECTION_WINDOW_OCTETS;
    this.#receiveWindow = new ReceiveWindow(this.#windowOctets);
    this.#reader = new FrameReader(new FrameReceiver(this), options.expectedPreface);
    this.output = new Output(socket, this);
    this.frames = new FrameWriter(this.output);
    const contentSent = (stream: S) => this.contentSent(stream);
    this.content = new ContentSender(this.output, this.flood, options.endsApart, contentSent);
    this.#sweeper = setInterval(() => this.#sweep(), options.sweepEveryMs).unref();
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error) => this.destroy(errorReason(error)));
    socket.on('end', () => this.destroy('connection closed by the peer'));
    socket.on('close', () => this.destroy('connection closed'));
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Takes no more requests, and closes when the open streams have ended. */
  drain(): void {
    this.isDraining = true;
    this.closeIfDrained();
  }

  /** Closes at once; open streams are lost. Without effect on a closed connection. */
  destroy(reason: string): void {
    this.#close(reason, null);
  }

  /** A whole field section: a request, a response, trailers. */
  abstract fields(streamId: number, section: FieldSection, isEndStream: boolean): void;
  abstract goAway(goAway: GoAway): void;
  abstract pingAcknowledged(): void;
  /** Content of an open stream, already accounted for. */
  protected abstract receiveContent(
    stream: S,
    bytes: Buffer,
    content: Content,
    isEndStream: boolean,
  ): void;
  /** RST_STREAM for an open stream; it must not be answered (5.4.2). */
  protected abstract receiveReset(stream: S, code: number): void;
  /** One of the peer's settings is in force. */
  protected abstract remoteSettingApplied(parameter: Parameter): void;
  /** Whether this stream has not been used yet (5.1). */
  protected abstract isIdle(streamId: number): boolean;
  /** All content of the stream is written, with END_STREAM. */
  protected abstract contentSent(stream: S): void;
  /**
   * Called after this stream was reset for an error of the peer. The implementation must close the
   * stream.
   */
  protected abstract streamFailed(stream: S, error: StreamError): void;
  /** The stream is lost with its connection. The implementation must close the stream. */
  protected abstract streamLost(stream: S, reason: string): void;
  /** The peer's highest stream that we have processed (6.8). */
  protected abstract lastStreamId(): number;
  /** Called about every `sweepEveryMs`: checks timeouts. */
  protected abstract swept(nowMs: number): void;
  /** A chunk was read completely: streams or windows may have become free. */
  protected abstract chunkRead(): void;
  /** The connection is closed, and every stream was lost. */
  protected abstract closed(reason: string): void;

  get isDeaf(): boolean {
    return this.#isClosed || this.#isFrozen;
  }

  /**
   * 5.4.2: ends the stream only. A closed stream needs no RST_STREAM. An idle one must not get any,
   * so the error becomes one of the connection.
   */
  streamError(error: StreamError): void {
    const stream = this.streams.find(error.streamId);
    if (stream !== undefined) {
      this.frames.rstStream(stream.id, error.code);
      this.streamFailed(stream, error);
    } else if (this.isIdle(error.streamId)) {
      throw new ConnectionError(error.code, error.message);
    } else {
      this.flood.spend();
    }
  }

  data(
    streamId: number,
    bytes: Buffer,
    content: Content,
    flowOctets: number,
    isEndStream: boolean,
  ): void {
    // 6.9: content for closed streams counts as well, or it would use up the connection's window.
    if (!this.#receiveWindow.take(flowOctets)) {
      throw new ConnectionError(ErrorCode.FLOW_CONTROL_ERROR, 'connection window exceeded');
    }
    this.frames.windowUpdate(0, this.#receiveWindow.replenish());
    const stream = this.streams.find(streamId);
    if (stream === undefined) {
      this.checkClosed(streamId, 'DATA');
      return;
    }
    if (content.start === content.end && !isEndStream) this.flood.spend();
    if (!stream.receiveWindow.take(flowOctets)) {
      throw new StreamError(streamId, ErrorCode.FLOW_CONTROL_ERROR, 'stream window exceeded');
    }
    if (stream.wouldExceedSaid(content.end - content.start)) {
      throw new StreamError(streamId, ErrorCode.PROTOCOL_ERROR, 'longer than content-length');
    }
    if (!isEndStream) this.frames.windowUpdate(streamId, stream.receiveWindow.replenish());
    this.receiveContent(stream, bytes, content, isEndStream);
  }

  rstStream(streamId: number, code: number): void {
    this.flood.spend();
    const stream = this.streams.find(streamId);
    if (stream !== undefined) this.receiveReset(stream, code);
    else this.#refuseIdle(streamId, 'RST_STREAM');
  }

  windowUpdate(streamId: number, increment: number): void {
    this.flood.spend();
    if (streamId === 0) {
      this.content.growConnectionWindow(increment);
      return;
    }
    const stream = this.streams.find(streamId);
    if (stream !== undefined) this.content.growStreamWindow(stream, increment);
    else this.#refuseIdle(streamId, 'WINDOW_UPDATE');
  }

  /** 6.5.3: applied in order, then acknowledged. */
  settings(parameters: readonly Parameter[]): void {
    this.flood.spend();
    const initialWindowBefore = this.remote.initialWindowOctets;
    for (const parameter of parameters) {
      const [identifier, value] = parameter;
      applyParameter(this.remote, parameter);
      if (identifier === Setting.HEADER_TABLE_SIZE) this.frames.encoder.setTableSizeMax(value);
      this.remoteSettingApplied(parameter);
    }
    this.#shiftWindows(this.remote.initialWindowOctets - initialWindowBefore);
    // After everything that is written already: that was encoded under the old settings. And before
    // any content that only the new windows allow: a peer may count by the old ones until it sees
    // this.
    this.output.write(SETTINGS_ACK);
    this.content.proceed();
  }

  settingsAcknowledged(): void {
    this.flood.spend();
    const next = this.#localSettings.acknowledged();
    if (next !== null) this.demand(next);
  }

  ping(opaqueData: Buffer): void {
    this.flood.spend();
    this.output.writeAhead(pingFrame(opaqueData, true));
  }

  ignored(): void {
    this.flood.spend();
  }

  relieved(): void {
    this.content.proceed();
  }

  overrun(): void {
    this.fail(new ConnectionError(ErrorCode.ENHANCE_YOUR_CALM, 'the peer asks and does not read'));
  }

  /**
   * Our first frames: SETTINGS (3.4), and the connection's window, which SETTINGS cannot change
   * (6.9.2).
   */
  protected open(parameters: readonly Parameter[]): void {
    this.demand(parameters);
    this.frames.windowUpdate(0, this.#windowOctets - INITIAL_WINDOW_OCTETS);
  }

  /** Demands these settings of the peer. */
  protected demand(parameters: readonly Parameter[]): void {
    if (this.#localSettings.demand(parameters)) this.output.write(settingsFrame(parameters));
  }

  /** Whether the peer has acknowledged all demands. */
  protected get isObeyed(): boolean {
    return this.#localSettings.isAcknowledged;
  }

  /** Stops reading and checking timeouts, so that the peer gets no reaction until `destroy`. */
  protected stopReading(): void {
    this.#isFrozen = true;
    this.#socket.pause();
  }

  protected reset(stream: S, code: number): void {
    this.frames.rstStream(stream.id, code);
    this.closeStream(stream, false);
  }

  /** `isEndedByPeer`: with END_STREAM, so that any further frame on it is an error. */
  protected closeStream(stream: S, isEndedByPeer: boolean): void {
    this.content.forget(stream);
    this.streams.close(stream, isEndedByPeer);
  }

  /**
   * A frame came for a stream that is not open. Throws unless it may have been on its way before
   * (5.1).
   */
  protected checkClosed(streamId: number, frame: string): void {
    this.#refuseIdle(streamId, frame);
    if (this.streams.hasEnded(streamId)) {
      throw new ConnectionError(ErrorCode.STREAM_CLOSED, `${frame} after the end of ${streamId}`);
    }
    this.flood.spend();
  }

  protected closeIfDrained(): void {
    if (!this.isDraining || this.#isFrozen || this.streams.size > 0) return;
    this.#close('drained', { code: ErrorCode.NO_ERROR, text: '' });
  }

  /**
   * The peer has broken a rule of the connection: sends GOAWAY, and closes the connection (5.4.1).
   */
  protected fail({ code, message }: ConnectionError): void {
    this.#close(`${errorCodeName(code)}: ${message}`, { code, text: message });
  }

  #read(chunk: Buffer): void {
    if (this.isDeaf) return;
    this.#orFail(() => this.#reader.read(chunk));
    this.closeIfDrained();
    if (!this.isDeaf) this.chunkRead();
  }

  #sweep(): void {
    if (this.#isFrozen) return;
    this.#orFail(() => {
      const nowMs = performance.now();
      this.#localSettings.checkTime(nowMs);
      this.swept(nowMs);
    });
    this.closeIfDrained();
  }

  #orFail(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      this.fail(error);
    }
  }

  /**
   * 6.9.2: a changed INITIAL_WINDOW_SIZE changes the windows of all open streams, below zero too.
   */
  #shiftWindows(delta: number): void {
    if (delta === 0) return;
    for (const stream of this.streams.all()) {
      const shifted = grownWindow(stream.sendWindow, delta);
      if (shifted === null) {
        throw new ConnectionError(ErrorCode.FLOW_CONTROL_ERROR, 'stream window above 2^31-1');
      }
      stream.sendWindow = shifted;
    }
  }

  #refuseIdle(streamId: number, frame: string): void {
    if (!this.isIdle(streamId)) return;
    throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, `${frame} on idle stream ${streamId}`);
  }

  #close(reason: string, goodbye: { readonly code: number; readonly text: string } | null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#sweeper);
    // After an error, unsent frames stay unsent, so that the fate of their requests is known.
    if (goodbye?.code !== ErrorCode.NO_ERROR) this.output.discard();
    if (goodbye === null) this.#socket.destroy();
    else this.#sayGoodbye(goodbye.code, goodbye.text);
    for (const stream of this.streams.all()) {
      if (this.streams.isOpen(stream)) this.streamLost(stream, reason);
    }
    this.closed(reason);
  }

  #sayGoodbye(code: number, text: string): void {
    this.output.flush();
    const debugData = Buffer.from(text);
    // Past the buffer: discarded frames must not count as flushed.
    this.output.writeAhead(goAwayFrame({ lastStreamId: this.lastStreamId(), code, debugData }));
    this.output.end();
    setTimeout(() => this.#socket.destroy(), LINGER_MS).unref();
  }
}
