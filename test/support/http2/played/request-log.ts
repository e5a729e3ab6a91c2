/**
 * The server's ear: reads what our client writes and holds it to RFC 9113: frames and their order,
 * streams and their states, both flow-control windows, the limits that our SETTINGS set from their
 * acknowledgement on, and every request as it was meant.
 */

import assert from 'node:assert/strict';
import { Decoder } from '../../../../packages/http2/src/hpack/decoder.ts';
import type { Frame } from '../frames.ts';
import {
  ACK,
  describe,
  END_HEADERS,
  END_STREAM,
  HEAD_OCTETS,
  Id,
  Type,
  UINT31_MAX,
} from '../frames.ts';
import type { Meant } from '../meant.ts';

export type Parameters = readonly (readonly [identifier: number, value: number])[];

/** A stream as the server sees it. */
export interface HeardStream {
  readonly id: number;
  /** Octets that the client may still send. */
  window: number;
  /** The sum of all increments that we have sent, less what was received: to stay below 2^31-1. */
  grown: number;
  /** Octets that we may still send. */
  sendWindow: number;
  readonly content: Buffer[];
  /** END_STREAM has come. */
  isWhole: boolean;
  /** RST_STREAM has come. */
  isReset: boolean;
  /** We have sent END_STREAM. */
  isAnswered: boolean;
  /** We have sent RST_STREAM. */
  isAbandoned: boolean;
}

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const INITIAL_WINDOW = 65_535;

export class RequestLog {
  readonly streams = new Map<number, HeardStream>();
  /** The last GOAWAY's code. */
  goAwayCode: number | null = null;
  /** Octets that the client may still send on all streams. */
  window = INITIAL_WINDOW;
  /** Octets that we may still send on all streams. */
  sendWindow = INITIAL_WINDOW;
  /** Content of all requests that has come. */
  contentOctets = 0;
  hasSettings = false;
  isSettingsAckDue = false;
  /**
   * Whether what it says about windows, limits and tables is known: not after its peer has been
   * misquoted.
   */
  isStrict = true;
  readonly #meant: ReadonlyMap<number, Meant>;
  readonly #decoder = new Decoder({ tableSizeMax: 4_096, listSizeMax: 2 ** 20 });
  readonly #settingsUnderWay: Parameters[] = [];
  readonly #pingsUnderWay: string[] = [];
  #initialWindow = INITIAL_WINDOW;
  #streamsMax = Number.POSITIVE_INFINITY;
  #frameOctetsMax = 16_384;
  #octets = Buffer.alloc(0);
  #hasPreface = false;
  #block: { readonly id: number; readonly isEnd: boolean; fragments: Buffer[] } | null = null;
  #lastId = 0;

  constructor(meant: ReadonlyMap<number, Meant>) {
    this.#meant = meant;
  }

  /** SETTINGS are under way to the client. */
  settingsSent(parameters: Parameters): void {
    this.#settingsUnderWay.push(parameters);
  }

  pingSent(opaqueData: string): void {
    this.#pingsUnderWay.push(opaqueData);
  }

  /** Every SETTINGS and every PING was answered. */
  get isAllAcknowledged(): boolean {
    return this.#settingsUnderWay.length + this.#pingsUnderWay.length === 0;
  }

  /** The highest INITIAL_WINDOW_SIZE that is in force or will be. */
  get initialWindowMax(): number {
    const coming = this.#settingsUnderWay.flat().filter(([id]) => id === Id.INITIAL_WINDOW_SIZE);
    return Math.max(this.#initialWindow, ...coming.map(([, value]) => value));
  }

  receive(octets: Buffer): void {
    this.#octets = Buffer.concat([this.#octets, octets]);
    if (!this.#hasPreface) this.#preface();
    while (this.#hasPreface && this.#octets.length >= HEAD_OCTETS) {
      const behind = HEAD_OCTETS + this.#octets.readUIntBE(0, 3);
      if (this.#octets.length < behind) break;
      const frame = {
        type: this.#octets.readUInt8(3),
        flags: this.#octets.readUInt8(4),
        streamId: this.#octets.readUInt32BE(5),
        payload: this.#octets.subarray(HEAD_OCTETS, behind),
      };
      this.#octets = this.#octets.subarray(behind);
      this.#frame(frame);
    }
  }

  /** All that came was whole frames. */
  get isAtBorder(): boolean {
    return this.#hasPreface && this.#octets.length === 0 && this.#block === null;
  }

  #preface(): void {
    if (this.#octets.length < PREFACE.length) return;
    assert.ok(this.#octets.subarray(0, PREFACE.length).equals(PREFACE), 'the preface');
    this.#octets = this.#octets.subarray(PREFACE.length);
    this.#hasPreface = true;
  }

  #frame(frame: Frame): void {
    const { type, flags, streamId, payload } = frame;
    assert.equal(this.goAwayCode, null, `behind GOAWAY: ${describe(frame)}`);
    assert.ok(payload.length <= this.#frameOctetsMax || !this.isStrict, 'a frame too long');
    const isFirst = !this.hasSettings;
    if (isFirst) assert.ok(type === Type.SETTINGS && flags === 0, 'SETTINGS first');
    if (this.#block !== null) {
      assert.ok(type === Type.CONTINUATION && streamId === this.#block.id, 'a torn field block');
    }
    switch (type) {
      case Type.HEADERS:
        this.#headers(frame);
        return;
      case Type.CONTINUATION:
        this.#continuation(frame);
        return;
      case Type.DATA:
        this.#data(frame);
        return;
      case Type.RST_STREAM:
        this.#living(frame).isReset = true;
        return;
      case Type.WINDOW_UPDATE:
        this.#windowUpdate(frame);
        return;
      case Type.SETTINGS:
        if (flags === ACK) this.#settingsAcknowledged();
        else this.#settings(frame);
        return;
      case Type.PING: {
        assert.equal(flags, ACK, 'no PING of its own');
        const at = this.#pingsUnderWay.indexOf(payload.toString());
        if (this.isStrict) assert.equal(at, 0, 'PINGs are answered in order');
        this.#pingsUnderWay.splice(0, 1);
        return;
      }
      case Type.GOAWAY:
        assert.equal(streamId, 0);
        assert.equal(payload.readUInt32BE(0), 0, 'none of our streams was looked at');
        this.goAwayCode = payload.readUInt32BE(4);
        return;
      default:
        assert.fail(describe(frame));
    }
  }

  #headers({ flags, streamId, payload }: Frame): void {
    assert.ok(streamId % 2 === 1 && streamId > this.#lastId, `stream ${streamId} opened`);
    this.#lastId = streamId;
    this.#block = { id: streamId, isEnd: (flags & END_STREAM) !== 0, fragments: [payload] };
    if ((flags & END_HEADERS) !== 0) this.#request();
  }

  #continuation({ flags, payload }: Frame): void {
    assert.ok(this.#block !== null, 'CONTINUATION of nothing');
    this.#block.fragments.push(payload);
    if ((flags & END_HEADERS) !== 0) this.#request();
  }

  #request(): void {
    assert.ok(this.#block !== null);
    const { id, isEnd, fragments } = this.#block;
    this.#block = null;
    const meant = this.#meant.get(id);
    assert.ok(meant !== undefined, `nobody has sent ${id}`);
    if (this.isStrict) {
      const block = Buffer.concat(fragments);
      const { fields } = this.#decoder.decode(block, 0, block.length);
      const pairs = fields.map(({ name, value }) => [name, value]);
      assert.deepEqual(pairs, meant.fields);
    }
    const stream: HeardStream = {
      id,
      window: this.#initialWindow,
      grown: 0,
      sendWindow: INITIAL_WINDOW,
      content: [],
      isWhole: false,
      isReset: false,
      isAnswered: false,
      isAbandoned: false,
    };
    this.streams.set(id, stream);
    if (isEnd) this.#end(stream);
    const open = [...this.streams.values()].filter(isOpen).length;
    assert.ok(open <= this.#streamsMax || !this.isStrict, `${open} streams at once`);
  }

  #data(frame: Frame): void {
    const { flags, payload } = frame;
    const stream = this.#living(frame);
    assert.ok(!stream.isWhole, `behind END_STREAM: ${describe(frame)}`);
    stream.content.push(payload);
    stream.window -= payload.length;
    stream.grown -= payload.length;
    this.window -= payload.length;
    this.contentOctets += payload.length;
    if (this.isStrict && payload.length > 0) {
      assert.ok(this.window >= 0, 'the connection’s window');
      assert.ok(stream.window >= 0, 'the stream’s window');
    }
    if ((flags & END_STREAM) !== 0) this.#end(stream);
  }

  #end(stream: HeardStream): void {
    stream.isWhole = true;
    const meant = this.#meant.get(stream.id)?.content ?? Buffer.alloc(0);
    assert.ok(Buffer.concat(stream.content).equals(meant), `content of ${stream.id}`);
  }

  #windowUpdate(frame: Frame): void {
    const increment = frame.payload.readUInt32BE(0);
    assert.ok(increment > 0 && increment <= UINT31_MAX);
    if (frame.streamId === 0) {
      this.sendWindow += increment;
      assert.ok(this.sendWindow <= UINT31_MAX || !this.isStrict);
      return;
    }
    const stream = this.#living(frame);
    stream.sendWindow += increment;
    assert.ok(stream.sendWindow <= UINT31_MAX);
  }

  /** The client's SETTINGS. */
  #settings({ payload }: Frame): void {
    assert.equal(this.hasSettings, false, 'once');
    this.hasSettings = true;
    this.isSettingsAckDue = true;
    assert.equal(payload.toString('hex', 0, 6), '000200000000', 'ENABLE_PUSH 0');
  }

  #settingsAcknowledged(): void {
    const parameters = this.#settingsUnderWay.shift();
    assert.ok(parameters !== undefined || !this.isStrict, 'an acknowledgement too many');
    for (const [identifier, value] of parameters ?? []) {
      if (identifier === Id.HEADER_TABLE_SIZE) this.#decoder.setTableSizeMax(value);
      else if (identifier === Id.MAX_CONCURRENT_STREAMS) this.#streamsMax = value;
      else if (identifier === Id.MAX_FRAME_SIZE) this.#frameOctetsMax = value;
      else if (identifier === Id.INITIAL_WINDOW_SIZE) {
        for (const stream of this.streams.values()) stream.window += value - this.#initialWindow;
        this.#initialWindow = value;
      }
    }
  }

  /** The frame's stream, on which the client may still speak. */
  #living(frame: Frame): HeardStream {
    const stream = this.streams.get(frame.streamId);
    assert.ok(stream !== undefined, `on an idle stream: ${describe(frame)}`);
    assert.ok(!stream.isReset, `behind RST_STREAM: ${describe(frame)}`);
    return stream;
  }
}

const isOpen = ({ isWhole, isReset, isAnswered, isAbandoned }: HeardStream): boolean =>
  !isReset && !isAbandoned && !(isWhole && isAnswered);
