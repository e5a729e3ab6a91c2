/** Strings of HPACK (RFC 7541, 5.2): a length, and that many octets, plain or Huffman-coded. */

import { compressionError } from './compression-error.ts';
import type { Cursor } from './cursor.ts';
import { huffmanDecode, huffmanDecodedRoom, huffmanEncode, huffmanOctets } from './huffman.ts';
import { readInteger, writeInteger } from './integer.ts';

const HUFFMAN_FLAG = 0x80;

export function readString(cursor: Cursor): string {
  const isHuffman = ((cursor.bytes[cursor.offset] ?? 0) & HUFFMAN_FLAG) !== 0;
  const octets = readInteger(cursor, 7);
  const start = cursor.offset;
  const end = start + octets;
  if (end > cursor.end) throw compressionError('the block ends inside a string');
  cursor.offset = end;
  if (!isHuffman) return cursor.bytes.toString('latin1', start, end);
  const room = huffmanDecodedRoom(octets);
  const text = room <= scratch.length ? scratch : Buffer.allocUnsafe(room);
  return text.toString('latin1', 0, huffmanDecode(cursor.bytes, start, end, text));
}

/**
 * Writes `text`, which must be Latin-1, in the shorter of the two ways; returns the offset after
 * it.
 */
export function writeString(text: string, into: Buffer, offset: number): number {
  const coded = huffmanOctets(text);
  if (coded < text.length) {
    const start = writeInteger(into, offset, HUFFMAN_FLAG, 7, coded);
    return huffmanEncode(text, into, start);
  }
  const start = writeInteger(into, offset, 0, 7, text.length);
  return start + into.write(text, start, 'latin1');
}

/** A buffer for decoding strings of usual length; nothing stays there. */
const scratch = Buffer.allocUnsafeSlow(4_096);
