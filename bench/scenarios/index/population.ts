/** Devices and subscriptions to fill an index with: the same in every run and in every layout. */

import { createHash } from 'node:crypto';
import { GROUP_DEVICES } from '../../../src/domain/device.ts';

/** Mulberry32: the same sequence for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** An APNs token: 64 hexadecimal digits. */
export const tokenOf = (ordinal: number): string =>
  createHash('sha256').update(String(ordinal)).digest('hex');

/** Ordinals of a tag that each device has with this chance. */
export function* subscribersOf(
  devices: number,
  density: number,
  seed: number,
): Generator<number, void, undefined> {
  const random = randomOf(seed);
  for (let ordinal = 0; ordinal < devices; ordinal += 1) if (random() < density) yield ordinal;
}

export const groupsOf = (devices: number): number => Math.ceil(devices / GROUP_DEVICES);
