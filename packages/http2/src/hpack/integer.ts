/**
 * Integers of HPACK (RFC 7541, 5.1): the low bits of an octet, and seven bits in each further octet
 * if those do not suffice.
 */

import { compressionError } from './compression-error.ts';
import type { Cursor } from './cursor.ts';

/**
 * We read no more octets after the first: 28 bits, far above every length and index that we accept.
 * This ends the endless series of 0x80 that 5.1 warns of, and keeps the sum within the small
 * integers of the engine.
 */
const CONTINUATION_OCTETS_MAX = 4;

/** The most octets that `writeInteger` needs for the 32 bits of a setting. */
export const INTEGER_OCTETS_MAX = 6;

/** Reads the integer whose first octet, of which the low `prefixBits` count, is at the cursor. */
export function readInteger(cursor: Cursor, prefixBits: number): number {
  const prefixMax = (1 << prefixBits) - 1;
  const prefix = nextOctet(cursor) & prefixMax;
  return prefix < prefixMax ? prefix : prefixMax + readContinuation(cursor);
}

/** Writes `value` below the flags of `firstOctet`; returns the offset after it. */
export function writeInteger(
  into: Buffer,
  offset: number,
  firstOctet: number,
  prefixBits: number,
  value: number,
): number {
  const prefixMax = (1 << prefixBits) - 1;
  if (value < prefixMax) {
    into[offset] = firstOctet | value;
    return offset + 1;
  }
  into[offset] = firstOctet | prefixMax;
  let end = offset + 1;
  let rest = value - prefixMax;
  for (; rest >= 0x80; rest >>>= 7) {
    into[end] = 0x80 | (rest & 0x7f);
    end += 1;
  }
  into[end] = rest;
  return end + 1;
}

export function integerOctets(prefixBits: number, value: number): number {
  const prefixMax = (1 << prefixBits) - 1;
  if (value < prefixMax) return 1;
  let octets = 2;
  for (let rest = value - prefixMax; rest >= 0x80; rest >>>= 7) octets += 1;
  return octets;
}

function readContinuation(cursor: Cursor): number {
  let value = 0;
  for (let index = 0; index < CONTINUATION_OCTETS_MAX; index += 1) {
    const octet = nextOctet(cursor);
    value |= (octet & 0x7f) << (7 * index);
    if (octet < 0x80) return value;
  }
  throw compressionError('an integer is too large');
}

function nextOctet(cursor: Cursor): number {
  if (cursor.offset >= cursor.end) throw compressionError('the block ends inside an integer');
  const octet = cursor.bytes[cursor.offset] ?? 0;
  cursor.offset += 1;
  return octet;
}
