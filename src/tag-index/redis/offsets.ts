/**
 * The devices of a group that have a tag, as one value: up to 511 sorted big-endian 16-bit offsets,
 * else a bitmap of 1,024 octets. (As in Roaring, arXiv:1402.6407; decision 32.)
 */

import { GROUP_DEVICES } from '../../domain/device.ts';

/** Octets of a bitmap; by their number readers know which form they have. */
export const BITMAP_OCTETS = GROUP_DEVICES / 8;
/** @limit offsets of a tag kept as a list in Redis → a bitmap */
export const LISTED_MAX = BITMAP_OCTETS / 2 - 1;

const WORDS = GROUP_DEVICES / 32;

/** A set of offsets to calculate with: bit o % 32 of word o / 32. */
export type OffsetSet = Uint32Array;

export const emptySet = (): OffsetSet => new Uint32Array(WORDS);

/** Offsets in rising order as 16-bit numbers, as an edit has them. */
export function encodeList(offsets: readonly number[]): Buffer {
  const octets = Buffer.allocUnsafe(offsets.length * 2);
  let at = 0;
  for (const offset of offsets) at = octets.writeUInt16BE(offset, at);
  return octets;
}

/** The value for a list: itself, or a bitmap when it is long. */
export function valueOfList(list: Buffer): Buffer {
  if (list.length <= LISTED_MAX * 2) return list;
  const bitmap = Buffer.alloc(BITMAP_OCTETS);
  for (let at = 0; at + 1 < list.length; at += 2) {
    const offset = list.readUInt16BE(at);
    bitmap[offset >>> 3] = (bitmap[offset >>> 3] ?? 0) | (1 << (offset & 7));
  }
  return bitmap;
}

/** Adds the offsets of a value to the set; null: none. */
export function unite(set: OffsetSet, value: Buffer | null): void {
  if (value === null) return;
  if (value.length === BITMAP_OCTETS) {
    for (let word = 0; word < WORDS; word += 1) {
      set[word] = (set[word] ?? 0) | value.readInt32LE(word * 4);
    }
    return;
  }
  for (let at = 0; at + 1 < value.length; at += 2) {
    const offset = value.readUInt16BE(at);
    set[offset >>> 5] = (set[offset >>> 5] ?? 0) | (1 << (offset & 31));
  }
}

export function add(set: OffsetSet, other: OffsetSet): void {
  for (let word = 0; word < WORDS; word += 1) set[word] = (set[word] ?? 0) | (other[word] ?? 0);
}

/** Removes from the set the offsets that are not in the other one. */
export function intersect(set: OffsetSet, other: OffsetSet): void {
  for (let word = 0; word < WORDS; word += 1) set[word] = (set[word] ?? 0) & (other[word] ?? 0);
}

export function subtract(set: OffsetSet, other: OffsetSet): void {
  for (let word = 0; word < WORDS; word += 1) set[word] = (set[word] ?? 0) & ~(other[word] ?? 0);
}

/** Removes the offsets of a bitmap: bit n of octet m is the offset 8m + n. */
export function subtractBits(set: OffsetSet, bits: Uint8Array): void {
  for (const [at, octet] of bits.entries()) {
    set[at >>> 2] = (set[at >>> 2] ?? 0) & ~(octet << (8 * (at & 3)));
  }
}

/** Its offsets from `start`, a multiple of 32, up to but without `end`, in rising order. */
export function offsetsIn(set: OffsetSet, start: number, end: number): Uint16Array {
  const offsets = new Uint16Array(countIn(set));
  let count = 0;
  for (let word = start / 32; word < WORDS; word += 1) {
    let bits = set[word] ?? 0;
    while (bits !== 0) {
      const lowest = bits & -bits;
      const offset = word * 32 + 31 - Math.clz32(lowest);
      if (offset >= end) return offsets.subarray(0, count);
      offsets[count] = offset;
      count += 1;
      bits ^= lowest;
    }
  }
  return offsets.subarray(0, count);
}

export function countIn(set: OffsetSet): number {
  let count = 0;
  for (let word = 0; word < WORDS; word += 1) count += bitsOf(set[word] ?? 0);
  return count;
}

/** The bits of a word, added up side by side in ever wider fields. */
function bitsOf(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const nibbles = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
