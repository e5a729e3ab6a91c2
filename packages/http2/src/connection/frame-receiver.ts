/**
 * Turns frames into events. Checks their order, joins field blocks, and decodes all of these, also
 * for closed streams, because the table must stay in step (RFC 9113, 4.3). `Connection` decides
 * what an event means for a stream.
 */

import { PartialFieldBlock } from '../codec/field-block.ts';
import type { FrameHandler } from '../codec/frame-reader.ts';
import { ConnectionError, ErrorCode, StreamError } from '../error.ts';
import { loadData } from '../frame/data.ts';
import type { GoAway } from '../frame/go-away.ts';
import { loadGoAway } from '../frame/go-away.ts';
import { Flag, FrameType } from '../frame/head.ts';
import { loadHeaders } from '../frame/headers.ts';
import type { Content } from '../frame/padding.ts';
import { loadPing } from '../frame/ping.ts';
import { loadPriority } from '../frame/priority.ts';
import { loadPushPromise } from '../frame/push-promise.ts';
import { loadRstStream } from '../frame/rst-stream.ts';
import type { Parameter } from '../frame/settings.ts';
import { loadSettings } from '../frame/settings.ts';
import { loadWindowUpdate } from '../frame/window-update.ts';
import { Decoder } from '../hpack/decoder.ts';
import { INITIAL_TABLE_SIZE_MAX } from '../hpack/dynamic-table.ts';
import type { FieldSection } from '../hpack/field.ts';

/**
 * The largest decoded field section: four times what common servers accept, far above what any
 * provider sends.
 */
export const HEADER_LIST_OCTETS_MAX = 65_536;

/** Each method may throw a ConnectionError or a StreamError. */
export interface FrameEvents {
  /** The connection receives nothing any more. */
  readonly isDeaf: boolean;
  /** A frame, or an event made of it, broke a rule of its stream. */
  streamError(error: StreamError): void;
  fields(streamId: number, section: FieldSection, isEndStream: boolean): void;
  /** `flowOctets` count against the windows: content and padding. */
  data(
    streamId: number,
    bytes: Buffer,
    content: Content,
    flowOctets: number,
    isEndStream: boolean,
  ): void;
  rstStream(streamId: number, code: number): void;
  settings(parameters: readonly Parameter[]): void;
  settingsAcknowledged(): void;
  ping(opaqueData: Buffer): void;
  pingAcknowledged(): void;
  goAway(goAway: GoAway): void;
  windowUpdate(streamId: number, increment: number): void;
  /** A frame without effect: PRIORITY, or one of an unknown type. */
  ignored(): void;
}

export class FrameReceiver implements FrameHandler {
  readonly #events: FrameEvents;
  readonly #decoder = new Decoder({
    // Never changed by our SETTINGS: a smaller one is known to break peers.
    tableSizeMax: INITIAL_TABLE_SIZE_MAX,
    listSizeMax: HEADER_LIST_OCTETS_MAX,
  });
  #partialBlock: PartialFieldBlock | null = null;
  #hasSettings = false;

  constructor(events: FrameEvents) {
    this.#events = events;
  }

  receiveFrame(
    type: number,
    flags: number,
    streamId: number,
    bytes: Buffer,
    start: number,
    end: number,
  ): void {
    if (this.#events.isDeaf) return;
    try {
      this.#dispatch(type, flags, streamId, bytes, start, end);
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      this.#events.streamError(error);
    }
  }

  #dispatch(
    type: number,
    flags: number,
    streamId: number,
    bytes: Buffer,
    start: number,
    end: number,
  ): void {
    if (!this.#hasSettings || this.#partialBlock !== null) this.#checkOrder(type, flags);
    switch (type) {
      case FrameType.HEADERS:
        this.#headers(flags, streamId, bytes, start, end);
        return;
      case FrameType.DATA:
        this.#data(flags, streamId, bytes, start, end);
        return;
      case FrameType.WINDOW_UPDATE:
        this.#events.windowUpdate(streamId, loadWindowUpdate(streamId, bytes, start, end));
        return;
      case FrameType.RST_STREAM:
        this.#events.rstStream(streamId, loadRstStream(streamId, bytes, start, end));
        return;
      case FrameType.CONTINUATION:
        this.#continuation(flags, streamId, bytes, start, end);
        return;
      case FrameType.SETTINGS:
        this.#settings(flags, streamId, bytes, start, end);
        return;
      case FrameType.PING:
        this.#ping(flags, streamId, bytes, start, end);
        return;
      case FrameType.GOAWAY:
        this.#events.goAway(loadGoAway(streamId, bytes, start, end));
        return;
      case FrameType.PUSH_PROMISE:
        loadPushPromise(flags, streamId, bytes, start, end);
        // 8.4: a client must not send it. 6.6: nor may a server, since our first octets set
        // ENABLE_PUSH to 0.
        throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, 'PUSH_PROMISE');
      case FrameType.PRIORITY:
        loadPriority(streamId, bytes, start, end);
        this.#events.ignored();
        return;
      default:
        // 4.1: unknown types are ignored.
        this.#events.ignored();
        return;
    }
  }

  /** 3.4: SETTINGS come first. 4.3: nothing comes between the frames of a field block. */
  #checkOrder(type: number, flags: number): void {
    if (this.#partialBlock !== null) {
      if (type === FrameType.CONTINUATION) return;
      throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, 'a frame inside of a field block');
    }
    if (type === FrameType.SETTINGS && (flags & Flag.ACK) === 0) return;
    throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, 'the first frame is not SETTINGS');
  }

  #headers(flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    const { fragment } = loadHeaders(flags, streamId, bytes, start, end);
    const isEndStream = (flags & Flag.END_STREAM) !== 0;
    if ((flags & Flag.END_HEADERS) === 0) {
      this.#partialBlock = new PartialFieldBlock(streamId, isEndStream, bytes, fragment);
      return;
    }
    const section = this.#decoder.decode(bytes, fragment.start, fragment.end);
    this.#events.fields(streamId, section, isEndStream);
  }

  #continuation(flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    const block = this.#partialBlock;
    if (block === null || block.streamId !== streamId) {
      throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, 'CONTINUATION of no field block');
    }
    block.append(bytes, { start, end });
    if ((flags & Flag.END_HEADERS) === 0) return;
    this.#partialBlock = null;
    const whole = block.whole();
    const section = this.#decoder.decode(whole, 0, whole.length);
    this.#events.fields(streamId, section, block.isEndStream);
  }

  #data(flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    const content = loadData(flags, streamId, bytes, start, end);
    this.#events.data(streamId, bytes, content, end - start, (flags & Flag.END_STREAM) !== 0);
  }

  #settings(flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    const parameters = loadSettings(flags, streamId, bytes, start, end);
    this.#hasSettings = true;
    if (parameters === null) this.#events.settingsAcknowledged();
    else this.#events.settings(parameters);
  }

  #ping(flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    loadPing(streamId, start, end);
    if ((flags & Flag.ACK) === 0) this.#events.ping(bytes.subarray(start, end));
    else this.#events.pingAcknowledged();
  }
}
