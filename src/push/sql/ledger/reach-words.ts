/** Reads the words of a reach, which push/worker/chunk/reach.ts writes. */

import { BLOCK_DEVICES, GROUP_DEVICES } from '../../../domain/device.ts';

const BLOCK_OCTETS = BLOCK_DEVICES / 8;
const OFFSET = 0x1fff;

/** The devices of a group as bits: bit n of octet m is the offset 8m + n. */
export const noDevices = (): Uint8Array => new Uint8Array(GROUP_DEVICES / 8);

export const hasDevice = (bits: Uint8Array, offset: number): boolean =>
  (((bits[offset >> 3] ?? 0) >> (offset & 7)) & 1) === 1;

export const addDevice = (bits: Uint8Array, offset: number): void => {
  bits[offset >> 3] = (bits[offset >> 3] ?? 0) | (1 << (offset & 7));
};

export const removeDevice = (bits: Uint8Array, offset: number): void => {
  bits[offset >> 3] = (bits[offset >> 3] ?? 0) & ~(1 << (offset & 7));
};

/** Adds the devices of some words to those that are there. */
export function addWords(bits: Uint8Array, words: Uint8Array): void {
  const view = new DataView(words.buffer, words.byteOffset, words.length);
  for (let at = 0; at < words.length; ) {
    const word = view.getUint16(at);
    at += 2;
    const start = (word & 0x3f) * BLOCK_OCTETS;
    const octets = (((word >> 6) & 0x3f) + 1) * BLOCK_OCTETS;
    switch (word >> 13) {
      case 0:
        addDevice(bits, word);
        break;
      // Two bits name a run; the third belongs to its length.
      case 2:
      case 3:
        addOctets(bits, start, words.subarray(at, at + octets));
        at += octets;
        break;
      case 4:
      case 5: {
        const run = new Uint8Array(octets).fill(0xff);
        for (; at < words.length && view.getUint16(at) >> 13 === 1; at += 2) {
          const offset = (view.getUint16(at) & OFFSET) - start * 8;
          run[offset >> 3] = (run[offset >> 3] ?? 0) & ~(1 << (offset & 7));
        }
        addOctets(bits, start, run);
        break;
      }
      default:
        throw new Error(`no such word of a reach: ${word.toString(16)}`);
    }
  }
}

function addOctets(bits: Uint8Array, start: number, more: Uint8Array): void {
  for (const [at, octet] of more.entries()) bits[start + at] = (bits[start + at] ?? 0) | octet;
}
