/** Counts, for each device of a group, how many sets of devices have it: all devices at a time. */

import { GROUP_DEVICES } from '../../../domain/device.ts';

const WORDS = GROUP_DEVICES / 32;

/** Plane n has bit n of the count of each device. */
export class DevicePlanes {
  private readonly planes: Uint32Array[] = [];

  /** `bits`: the devices of a set, as reach-words.ts has them. */
  add(bits: Uint8Array): void {
    const carry = new Uint32Array(new Uint8Array(bits).buffer);
    for (const plane of this.planes) {
      let left = 0;
      for (let at = 0; at < WORDS; at += 1) {
        const had = plane[at] ?? 0;
        const more = carry[at] ?? 0;
        plane[at] = had ^ more;
        carry[at] = had & more;
        left |= had & more;
      }
      if (left === 0) return;
    }
    this.planes.push(carry);
  }

  /** The devices that are in so many sets, or in more. */
  atLeast(count: number): Uint8Array {
    const more = new Uint32Array(WORDS);
    const same = new Uint32Array(WORDS).fill(0xff_ff_ff_ff);
    const top = Math.max(this.planes.length, Math.floor(Math.log2(Math.max(count, 1))) + 1);
    for (let bit = top - 1; bit >= 0; bit -= 1) {
      const plane = this.planes[bit];
      for (let at = 0; at < WORDS; at += 1) {
        const has = plane?.[at] ?? 0;
        const equal = same[at] ?? 0;
        if ((count >> bit) & 1) same[at] = equal & has;
        else {
          more[at] = (more[at] ?? 0) | (equal & has);
          same[at] = equal & ~has;
        }
      }
    }
    for (let at = 0; at < WORDS; at += 1) more[at] = (more[at] ?? 0) | (same[at] ?? 0);
    return new Uint8Array(more.buffer);
  }
}
