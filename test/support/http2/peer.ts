/**
 * The other end of a connection under test, which does what the test says, lawful or not. Without
 * any knowledge of its own but how frames are cut, so that a test reads as the conversation it is.
 */

import assert from 'node:assert/strict';
import type { Duplex } from 'node:stream';
import { Decoder } from '../../../packages/http2/src/hpack/decoder.ts';
import type { Pair } from './blocks.ts';
import type { Frame, Octets } from './frames.ts';
import {
  Code,
  describe,
  END_HEADERS,
  END_STREAM,
  goAway,
  HEAD_OCTETS,
  octetsOf,
  settings,
  settingsAck,
  Type,
} from './frames.ts';

/**
 * How what the peer says reaches the other end: as it is sent, octet by octet, or cut in two
 * somewhere.
 */
export type Delivery =
  | { readonly kind: 'whole' }
  | { readonly kind: 'octets' }
  | { readonly kind: 'cut'; readonly at: number };

export interface ReceivedRequest {
  readonly streamId: number;
  readonly fields: readonly Pair[];
  readonly content: string;
  /** The field block as it came. */
  readonly block: Buffer;
}

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

export class ScriptedPeer {
  /** Octets sent so far. */
  sentOctets = 0;
  /** The client's first SETTINGS. */
  clientSettings: Frame | null = null;
  /** The client's first WINDOW_UPDATE, of the connection. */
  clientWindow: Frame | null = null;
  readonly #socket: Duplex;
  readonly #delivery: Delivery;
  readonly #decoder = new Decoder({ tableSizeMax: 4_096, listSizeMax: 65_536 });
  #received = Buffer.alloc(0);
  #isEnded = false;
  #wake: () => void = () => undefined;

  constructor(socket: Duplex, delivery: Delivery) {
    this.#socket = socket;
    this.#delivery = delivery;
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    const end = (): void => {
      this.#isEnded = true;
      this.#wake();
    };
    socket.on('end', end);
    socket.on('close', end);
    socket.on('error', end);
  }

  /** Everything in one piece, unless the conversation is delivered otherwise. */
  send(...parts: readonly Octets[]): void {
    const octets = Buffer.concat(parts.map((part) => octetsOf(part)));
    const before = this.sentOctets;
    this.sentOctets += octets.length;
    if (this.#delivery.kind === 'octets') {
      for (const octet of octets) this.#socket.write(Buffer.from([octet]));
      return;
    }
    const cut = this.#delivery.kind === 'cut' ? this.#delivery.at - before : 0;
    if (cut > 0 && cut < octets.length) {
      this.#socket.write(octets.subarray(0, cut));
      this.#socket.write(octets.subarray(cut));
    } else {
      this.#socket.write(octets);
    }
  }

  /** Says no more. */
  end(): void {
    this.#socket.end();
  }

  /** The connection breaks. */
  cut(): void {
    this.#socket.destroy(new Error('ECONNRESET'));
  }

  stopReading(): void {
    this.#socket.pause();
  }

  readAgain(): void {
    this.#socket.resume();
  }

  /** 3.4, and the connection's window, which our client opens with it. */
  async expectPreface(): Promise<void> {
    const preface = await this.#take(PREFACE.length);
    assert.equal(preface.toString(), PREFACE);
    const first = await this.next();
    assert.equal(first.type, Type.SETTINGS);
    assert.equal(first.flags, 0);
    this.clientSettings = first;
    const second = await this.next();
    assert.equal(second.type, Type.WINDOW_UPDATE);
    this.clientWindow = second;
  }

  /** The usual start: both prefaces, both acknowledgements. */
  async greet(...parameters: readonly (readonly [number, number])[]): Promise<void> {
    await this.expectPreface();
    this.send(settings(...parameters), settingsAck);
    await this.expect(settingsAck);
  }

  /** The next frame, whatever it is. */
  async next(): Promise<Frame> {
    const head = await this.#take(HEAD_OCTETS);
    const payload = await this.#take(head.readUIntBE(0, 3));
    return { type: head[3] ?? 0, flags: head[4] ?? 0, streamId: head.readUInt32BE(5), payload };
  }

  /** The next frame is this one, octet by octet. */
  async expect(frame: Frame): Promise<void> {
    assert.equal(describe(await this.next()), describe(frame));
  }

  /** This frame comes, before it others perhaps, which `skip` looks at. */
  async expectNextOf(frame: Frame, skip: (other: Frame) => void): Promise<void> {
    for (;;) {
      const next = await this.next();
      if (describe(next) === describe(frame)) return;
      skip(next);
    }
  }

  /** The next frame is a request's first; answers the whole of it. */
  async expectRequest(): Promise<ReceivedRequest> {
    const { streamId, block, isEnd, fields } = await this.expectRequestHead();
    const content: Buffer[] = [];
    for (let isLast = isEnd; !isLast; ) {
      const frame = await this.next();
      assert.equal(describe({ ...frame, payload: Buffer.alloc(0) }), onlyData(frame, streamId));
      content.push(frame.payload);
      isLast = (frame.flags & END_STREAM) !== 0;
    }
    return { streamId, fields, block, content: Buffer.concat(content).toString() };
  }

  /** HEADERS and CONTINUATION only. */
  async expectRequestHead(): Promise<Omit<ReceivedRequest, 'content'> & { isEnd: boolean }> {
    const first = await this.next();
    assert.equal(first.type, Type.HEADERS, describe(first));
    const fragments = [first.payload];
    for (let last = first; (last.flags & END_HEADERS) === 0; ) {
      last = await this.next();
      assert.equal(last.type, Type.CONTINUATION, describe(last));
      assert.equal(last.streamId, first.streamId);
      fragments.push(last.payload);
    }
    const block = Buffer.concat(fragments);
    const { fields } = this.#decoder.decode(block, 0, block.length);
    return {
      streamId: first.streamId,
      block,
      fields: fields.map(({ name, value }) => [name, value] as const),
      isEnd: (first.flags & END_STREAM) !== 0,
    };
  }

  /**
   * The client has nothing to say to all that came before: the next that comes from it is the
   * answer to SETTINGS.
   */
  async expectQuiet(): Promise<void> {
    this.send(settings());
    await this.expect(settingsAck);
  }

  /** GOAWAY with this code, no matter its words, and nothing after it. Returns the words. */
  async expectGoAway(code: number): Promise<string> {
    const frame = await this.next();
    const words = frame.payload.subarray(8).toString();
    assert.equal(describe(frame), describe(goAway(0, code, words)), words);
    await this.expectEnd();
    return words;
  }

  /** The client says goodbye without reproach, and goes. */
  expectFarewell(): Promise<string> {
    return this.expectGoAway(Code.NO_ERROR);
  }

  /** The client has ended the connection and said nothing more. */
  async expectEnd(): Promise<void> {
    await this.#until(() => this.#isEnded);
    assert.equal(this.#received.length, 0, this.#received.toString('hex'));
  }

  async #take(octets: number): Promise<Buffer> {
    await this.#until(() => this.#received.length >= octets || this.#isEnded);
    assert.ok(this.#received.length >= octets, 'the client has gone');
    const taken = this.#received.subarray(0, octets);
    this.#received = this.#received.subarray(octets);
    return taken;
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

const onlyData = (frame: Frame, streamId: number): string =>
  describe({
    type: Type.DATA,
    flags: frame.flags & END_STREAM,
    streamId,
    payload: Buffer.alloc(0),
  });
