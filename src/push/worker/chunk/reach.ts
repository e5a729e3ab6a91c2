/**
 * The devices of a group that may have seen a message, and the words in which the ledger keeps them
 * (decision 74). A word is two octets, the highest first. Words come after others, and all of them
 * count together:
 *
 *   000 and an offset            this device
 *   001 and an offset            not this one of the run of whole blocks before
 *   01, count − 1, first block   a run of blocks; their bits follow: bit n of octet m is 8m + n
 *   10, count − 1, first block   a run of whole blocks, but for those that follow
 */

import { BLOCK_DEVICES, GROUP_BLOCKS, GROUP_DEVICES } from '../../../domain/device.ts';
import type { Reached } from '../../../domain/progress.ts';

const BLOCK_OCTETS = BLOCK_DEVICES / 8;
/** Single words of so many are no longer than the bits of their block. */
const SINGLE_MAX = BLOCK_OCTETS / 2;

const BUT = 0x2000;
const BITS = 0x4000;
const WHOLE = 0x8000;

/** How many bits an octet has. */
const BIT_COUNTS = Uint8Array.from({ length: 256 }, (_, octet) => {
  let count = 0;
  for (let rest = octet; rest > 0; rest >>= 1) count += rest & 1;
  return count;
});

type Form = 'none' | 'single' | 'bits' | 'whole';

export class Reach {
  private readonly bits = new Uint8Array(GROUP_DEVICES / 8);

  add(offset: number): void {
    const at = offset >> 3;
    this.bits[at] = (this.bits[at] ?? 0) | (1 << (offset & 7));
  }

  /** Those of a mask of blocks. Null: none. */
  of(blocks: bigint): Reached | null {
    const counts = this.countsOf(blocks);
    const devices = counts.reduce((sum, count) => sum + count, 0);
    if (devices === 0) return null;
    const octets: number[] = [];
    for (let first = 0; first < GROUP_BLOCKS; ) {
      const form = formOf(counts[first] ?? 0);
      let end = first + 1;
      while (end < GROUP_BLOCKS && formOf(counts[end] ?? 0) === form) end += 1;
      this.write(octets, form, first, end);
      first = end;
    }
    return { devices, words: Buffer.from(octets).toString('hex') };
  }

  private countsOf(blocks: bigint): Uint8Array {
    const counts = new Uint8Array(GROUP_BLOCKS);
    for (let block = 0; block < GROUP_BLOCKS; block += 1) {
      if (((blocks >> BigInt(block)) & 1n) === 0n) continue;
      let count = 0;
      for (const octet of this.octetsOf(block, block + 1)) count += BIT_COUNTS[octet] ?? 0;
      counts[block] = count;
    }
    return counts;
  }

  /** The blocks from `first` up to but without `end`, which have one form. */
  private write(octets: number[], form: Form, first: number, end: number): void {
    switch (form) {
      case 'none':
        break;
      case 'single':
        this.writeSingles(octets, first, end, true);
        break;
      case 'bits':
        put(octets, runOf(BITS, first, end));
        octets.push(...this.octetsOf(first, end));
        break;
      case 'whole':
        put(octets, runOf(WHOLE, first, end));
        this.writeSingles(octets, first, end, false);
        break;
    }
  }

  private writeSingles(octets: number[], first: number, end: number, isIn: boolean): void {
    for (let offset = first * BLOCK_DEVICES; offset < end * BLOCK_DEVICES; offset += 1) {
      if (this.has(offset) === isIn) put(octets, isIn ? offset : BUT | offset);
    }
  }

  private has(offset: number): boolean {
    return (((this.bits[offset >> 3] ?? 0) >> (offset & 7)) & 1) === 1;
  }

  private octetsOf(first: number, end: number): Uint8Array {
    return this.bits.subarray(first * BLOCK_OCTETS, end * BLOCK_OCTETS);
  }
}

/** The shortest form of a block with so many devices. */
function formOf(devices: number): Form {
  if (devices === 0) return 'none';
  if (devices <= SINGLE_MAX) return 'single';
  return BLOCK_DEVICES - devices <= SINGLE_MAX ? 'whole' : 'bits';
}

const runOf = (kind: number, first: number, end: number): number =>
  kind | ((end - first - 1) << 6) | first;

const put = (octets: number[], word: number): void => {
  octets.push(word >> 8, word & 0xff);
};
