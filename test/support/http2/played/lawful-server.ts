/**
 * A server that does everything that RFC 9113 allows, in any order: it answers streams by turns,
 * pads, cuts field blocks, changes its SETTINGS, opens windows, sends what is to be ignored, and
 * says goodbye. What it says waits in `outgoing`.
 */

import { Encoder, fieldsSizeMax } from '../../../../packages/http2/src/hpack/encoder.ts';
import type { Indexing } from '../../../../packages/http2/src/hpack/field.ts';
import type { Pair } from '../blocks.ts';
import type { Frame } from '../frames.ts';
import * as frames from '../frames.ts';
import type { Meant } from '../meant.ts';
import type { Act } from './answer.ts';
import { makeAnswer } from './answer.ts';
import type { Random } from './random.ts';
import type { HeardStream, Parameters } from './request-log.ts';
import { RequestLog } from './request-log.ts';

/** The effect on the client, once it has come. */
export type Effect =
  | { readonly kind: 'act'; readonly streamId: number; readonly act: Act }
  | { readonly kind: 'settings'; readonly parameters: Parameters }
  | { readonly kind: 'go-away'; readonly lastStreamId: number }
  /** An increment of the connection. */
  | { readonly kind: 'window'; readonly increment: number }
  | { readonly kind: 'none' };

/** Frames that come in one piece, as far as frames go. */
export interface Said {
  readonly frames: readonly Frame[];
  readonly effect: Effect;
}

const { END_HEADERS, END_STREAM, Id, UINT31_MAX } = frames;
const NONE: Effect = { kind: 'none' };
const WINDOWS = [0, 1, 1_000, 65_535, 65_535, 200_000, UINT31_MAX] as const;
const LIMITS = [1, 3, 10, 100, 100, 2 ** 31] as const;
const FRAME_OCTETS_MAX = 16_384;

export class LawfulServer {
  readonly log: RequestLog;
  /** Said, and not on its way yet. */
  readonly outgoing: Said[] = [];
  readonly #encoder = new Encoder();
  readonly #answers = new Map<number, Act[]>();
  /** Fields go into no table, so that a block that is lost harms no other. */
  readonly #isStateless: boolean;
  readonly #random: Random;
  #lastStreamId = UINT31_MAX;
  #highestAnswered = 0;

  constructor(random: Random, meant: ReadonlyMap<number, Meant>, isStateless: boolean) {
    this.#random = random;
    this.#isStateless = isStateless;
    this.log = new RequestLog(meant);
    this.settings(random);
  }

  hear(octets: Buffer): void {
    this.log.receive(octets);
    for (const id of this.log.streams.keys()) {
      if (!this.#answers.has(id)) this.#answers.set(id, [...makeAnswer(this.#random)]);
    }
  }

  acknowledge(): void {
    if (!this.log.isSettingsAckDue) return;
    this.log.isSettingsAckDue = false;
    this.#say([frames.settingsAck]);
  }

  /** The next act of some answer. False: there is none, or no window for it. */
  act(random: Random): boolean {
    const able = [...this.log.streams.values()].filter((stream) => this.#isAble(stream));
    const stream = random.pickIfAny(able);
    const acts = this.#answers.get(stream?.id ?? 0);
    const act = acts?.shift();
    if (stream === undefined || acts === undefined || act === undefined) return false;
    this.#highestAnswered = Math.max(this.#highestAnswered, stream.id);
    switch (act.kind) {
      case 'fields':
        this.#say(this.#fields(random, stream, act.fields, act.isEnd), effectOf(stream, act));
        break;
      case 'content':
        this.#content(random, stream, act.content, act.isEnd, acts);
        break;
      case 'reset':
        stream.isAbandoned = true;
        this.#say([frames.rstStream(stream.id, act.code)], effectOf(stream, act));
        break;
    }
    return true;
  }

  settings(random: Random): void {
    const parameters: (readonly [number, number])[] = [];
    for (let i = random.between(0, 4); i > 0; i -= 1) {
      const [identifier, value] = random.pick([
        [Id.HEADER_TABLE_SIZE, random.pick([0, 100, 4_096, 8_192, 2 ** 32 - 1])],
        [Id.ENABLE_PUSH, 0],
        [Id.MAX_CONCURRENT_STREAMS, random.chance(0.05) ? 0 : random.pick(LIMITS)],
        [Id.INITIAL_WINDOW_SIZE, random.pick(WINDOWS)],
        [Id.MAX_FRAME_SIZE, random.pick([FRAME_OCTETS_MAX, 20_000, 2 ** 24 - 1])],
        [Id.MAX_HEADER_LIST_SIZE, random.between(0, 2 ** 32 - 1)],
        [random.between(7, 0xffff), random.between(0, 2 ** 32 - 1)],
      ] as const);
      // 6.9.1: no stream's window may come above 2^31-1.
      const grown = Math.max(0, ...[...this.log.streams.values()].map((stream) => stream.grown));
      if (identifier === Id.INITIAL_WINDOW_SIZE && value + grown > UINT31_MAX) continue;
      parameters.push([identifier, value]);
    }
    this.log.settingsSent(parameters);
    this.#say([frames.settings(...parameters)], { kind: 'settings', parameters });
  }

  ping(random: Random): void {
    const opaqueData = random.text(8);
    this.log.pingSent(opaqueData);
    this.#say([frames.ping(opaqueData)]);
  }

  openWindow(random: Random): void {
    const stream = random.pickIfAny([...this.log.streams.values()]);
    const room =
      stream === undefined || random.chance(0.4)
        ? UINT31_MAX - this.log.window
        : UINT31_MAX - this.log.initialWindowMax - stream.grown;
    const increment = Math.min(room, random.pick([1, 1_000, 65_535, 1_000_000, UINT31_MAX]));
    if (increment < 1) return;
    if (stream === undefined || room === UINT31_MAX - this.log.window) {
      this.log.window += increment;
      this.#say([frames.windowUpdate(0, increment)], { kind: 'window', increment });
    } else {
      stream.window += increment;
      stream.grown += increment;
      this.#say([frames.windowUpdate(stream.id, increment)]);
    }
  }

  /** Sends frames that are to be ignored (4.1, 6.3). */
  murmur(random: Random): void {
    const streamId = random.between(1, 500);
    const unknown = frames.frame(
      random.between(0x0a, 0xff),
      random.between(0, 0xff),
      random.between(0, UINT31_MAX),
      random.octets(random.length(FRAME_OCTETS_MAX)),
    );
    this.#say([random.chance(0.5) ? frames.priority(streamId) : unknown]);
  }

  goAway(random: Random): void {
    const heard = Math.max(0, ...this.log.streams.keys());
    const lastStreamId = random.pick([this.#highestAnswered, heard, UINT31_MAX]);
    if (lastStreamId > this.#lastStreamId) return;
    this.#lastStreamId = lastStreamId;
    const code = random.pick([frames.Code.NO_ERROR, frames.Code.ENHANCE_YOUR_CALM]);
    const goAway = frames.goAway(lastStreamId, code, random.text(random.length(600)));
    this.#say([goAway], { kind: 'go-away', lastStreamId });
  }

  /** Uses less of the table from the next block on. */
  resizeTable(random: Random): void {
    if (!this.#isStateless) this.#encoder.setTableSizeMax(random.between(0, 4_096));
  }

  #say(said: readonly Frame[], effect: Effect = NONE): void {
    this.outgoing.push({ frames: said, effect });
  }

  #isAble(stream: HeardStream): boolean {
    const { id, isReset, isAbandoned, isAnswered, sendWindow } = stream;
    const next = this.#answers.get(id)?.[0];
    if (next === undefined || isReset || isAbandoned || id > this.#lastStreamId) return false;
    if (isAnswered) return next.kind === 'reset';
    if (next.kind !== 'content' || next.content.length === 0) return true;
    return sendWindow > 0 && this.log.sendWindow > 0;
  }

  #fields(random: Random, stream: HeardStream, pairs: readonly Pair[], isEnd: boolean): Frame[] {
    const fields = pairs.map(([name, value]) => {
      const indexing: Indexing = random.pick(['incremental', 'without', 'never']);
      return { name, value, indexing: this.#isStateless ? ('without' as const) : indexing };
    });
    const room = Buffer.alloc(fieldsSizeMax(fields));
    const block = room.subarray(0, this.#encoder.encode(fields, room, 0));
    stream.isAnswered = isEnd;
    const [first, ...others] = cut(random, block);
    const flags = (isEnd ? END_STREAM : 0) | (others.length === 0 ? END_HEADERS : 0);
    const bare = frames.headersOf(stream.id, first ?? Buffer.alloc(0), flags);
    const prioritized = random.chance(0.1) ? frames.prioritized(bare) : bare;
    const headers = random.chance(0.2)
      ? frames.padded(prioritized, random.between(0, 255))
      : prioritized;
    const continuations = others.map((fragment, i) =>
      frames.continuation(stream.id, fragment, i === others.length - 1 ? END_HEADERS : 0),
    );
    return [headers, ...continuations];
  }

  /** Sends as much as the windows and a frame allow; the rest is the next act. */
  #content(
    random: Random,
    stream: HeardStream,
    content: Buffer,
    isEnd: boolean,
    acts: Act[],
  ): void {
    const allowed = Math.min(FRAME_OCTETS_MAX, stream.sendWindow, this.log.sendWindow);
    const padding = random.chance(0.2) ? random.between(0, 255) : -1;
    const isPadded = padding >= 0 && padding + 1 < allowed;
    const overhead = isPadded ? padding + 1 : 0;
    const cutAt = random.chance(0.3) ? random.between(1, FRAME_OCTETS_MAX) : FRAME_OCTETS_MAX;
    const octets = Math.min(content.length, allowed - overhead, cutAt);
    const isLast = octets >= content.length;
    const part = content.subarray(0, Math.max(0, octets));
    if (!isLast) acts.unshift({ kind: 'content', content: content.subarray(octets), isEnd });
    stream.isAnswered = isLast && isEnd;
    stream.sendWindow -= part.length + overhead;
    this.log.sendWindow -= part.length + overhead;
    const bare = frames.data(stream.id, part, isLast && isEnd ? END_STREAM : 0);
    const act = { kind: 'content' as const, content: part, isEnd: isLast && isEnd };
    this.#say([isPadded ? frames.padded(bare, padding) : bare], effectOf(stream, act));
  }
}

const effectOf = ({ id }: HeardStream, act: Act): Effect => ({ kind: 'act', streamId: id, act });

/** In one to four pieces, some of them empty. */
function cut(random: Random, block: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  let start = 0;
  for (let i = random.chance(0.2) ? random.between(1, 3) : 0; i > 0; i -= 1) {
    const end = random.between(start, block.length);
    pieces.push(block.subarray(start, end));
    start = end;
  }
  return [...pieces, block.subarray(start)];
}
