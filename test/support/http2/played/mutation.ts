/**
 * Does harm to frames on their way, and names the streams that may no longer end as their server
 * meant.
 */

import type { Frame } from '../frames.ts';
import { END_HEADERS, octetsOf, Type, UINT31_MAX } from '../frames.ts';
import type { Random } from './random.ts';

/**
 * The harm to a stream's frames: 'order': each of them is whole still, so that no status can come
 * that was not sent.
 */
export type Harm = 'order' | 'content';

const HARMS = ['drop', 'twice', 'late', 'flip', 'head', 'cut', 'stranger', 'noise'] as const;

export class Mutator {
  /** From here on it is not known where a frame begins. */
  isFramingLost = false;
  /** Whether there was any harm at all. */
  isHarmed = false;
  readonly #harmed = new Map<number, Harm>();
  readonly #random: Random;
  readonly #rate: number;
  #late: Frame[] = [];

  /** `rate`: of the frames that are harmed. */
  constructor(random: Random, rate: number) {
    this.#random = random;
    this.#rate = rate;
  }

  harmOf(streamId: number): Harm | 'none' {
    if (this.isFramingLost) return 'content';
    return this.#harmed.get(streamId) ?? 'none';
  }

  /** The octets that come in place of these frames. */
  pass(frames: readonly Frame[]): Buffer {
    return Buffer.concat(frames.flatMap((frame) => this.#one(frame)));
  }

  #one(frame: Frame): readonly Buffer[] {
    const late = this.#late.map((one) => octetsOf(one));
    this.#late = [];
    if (!this.#random.chance(this.#rate)) return [octetsOf(frame), ...late];
    this.isHarmed = true;
    return [...this.#harm(frame), ...late];
  }

  #harm(frame: Frame): readonly Buffer[] {
    const random = this.#random;
    const octets = octetsOf(frame);
    switch (random.pick(HARMS)) {
      case 'drop':
        this.#disorder(frame);
        return [];
      case 'twice':
        this.#disorder(frame);
        return [octets, octets];
      case 'late':
        this.#disorder(frame);
        this.#late.push(frame);
        return [];
      case 'flip':
        this.#note(frame.streamId, 'content');
        return [octetsOf({ ...frame, payload: flipped(random, frame.payload) })];
      case 'head':
        return [this.#otherHead(frame)];
      case 'cut':
        this.isFramingLost = true;
        return [octets.subarray(0, random.between(0, octets.length - 1))];
      case 'stranger':
        return [this.#stranger(), octets];
      case 'noise':
        this.isFramingLost = true;
        return [noise(random, random.between(1, 60)), octets];
    }
  }

  /**
   * A frame that is whole may be missing or come at another time; a piece of a field block may not.
   */
  #disorder({ type, flags, streamId }: Frame): void {
    const isPiece =
      type === Type.CONTINUATION || (type === Type.HEADERS && (flags & END_HEADERS) === 0);
    this.#note(streamId, isPiece ? 'content' : 'order');
  }

  #otherHead(frame: Frame): Buffer {
    const random = this.#random;
    const streamId = random.chance(0.5)
      ? frame.streamId ^ (1 << random.between(0, 5))
      : frame.streamId;
    const flags = random.chance(0.5) ? frame.flags ^ (1 << random.between(0, 7)) : frame.flags;
    const type = random.chance(0.3) ? random.between(0, 10) : frame.type;
    this.#note(frame.streamId, 'content');
    this.#note(streamId, 'content');
    return octetsOf({ ...frame, streamId, flags, type });
  }

  /** A frame that no server has sent. */
  #stranger(): Buffer {
    const random = this.#random;
    const streamId = random.chance(0.3)
      ? 0
      : random.pick([random.between(1, 40), random.between(1, UINT31_MAX)]);
    this.#note(streamId, 'content');
    const payload = noise(random, random.pick([0, 4, 5, 6, 8, 9, random.between(0, 200)]));
    return octetsOf({
      type: random.between(0, 10),
      flags: random.between(0, 255),
      streamId,
      payload,
    });
  }

  #note(streamId: number, harm: Harm): void {
    if (this.#harmed.get(streamId) !== 'content') this.#harmed.set(streamId, harm);
  }
}

function flipped(random: Random, octets: Buffer): Buffer {
  const copy = Buffer.from(octets);
  if (copy.length === 0) return copy;
  for (let i = random.between(1, 3); i > 0; i -= 1) {
    const at = random.between(0, copy.length - 1);
    copy[at] = (copy[at] ?? 0) ^ (1 << random.between(0, 7));
  }
  return copy;
}

const noise = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => random.between(0, 255)));
