/**
 * Tools that the tests of HPACK share: blocks as hex, fields as pairs, and a look into a decoder's
 * table from outside.
 */

import { Decoder } from '../../../../packages/http2/src/hpack/decoder.ts';
import type { Encoder } from '../../../../packages/http2/src/hpack/encoder.ts';
import { fieldsSizeMax } from '../../../../packages/http2/src/hpack/encoder.ts';
import type { Field, FieldSection, Indexing } from '../../../../packages/http2/src/hpack/field.ts';

export type Pair = readonly [name: string, value: string];

/** Spaces are for the reader. */
export const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

export const field = (name: string, value: string, indexing: Indexing = 'incremental'): Field => ({
  name,
  value,
  indexing,
});

export const pairs = (fields: readonly Field[]): Pair[] =>
  fields.map(({ name, value }) => [name, value]);

export const makeDecoder = (tableSizeMax = 4096, listSizeMax = 1 << 20): Decoder =>
  new Decoder({ tableSizeMax, listSizeMax });

/** Decodes a whole buffer. */
export const decode = (decoder: Decoder, block: Buffer): FieldSection =>
  decoder.decode(block, 0, block.length);

/** Encodes into exactly the room that was promised to be enough. */
export function encode(encoder: Encoder, fields: readonly Field[]): Buffer {
  const into = Buffer.alloc(fieldsSizeMax(fields));
  return into.subarray(0, encoder.encode(fields, into, 0));
}

/** The entries of the dynamic table, newest first: what the indices from 62 on mean. */
export function tableOf(decoder: Decoder): Pair[] {
  const entries: Pair[] = [];
  for (;;) {
    const index = 62 + entries.length - 127;
    const block = index < 0 ? [0x80 | (index + 127)] : [0xff, 0x80 | (index & 0x7f), index >> 7];
    try {
      entries.push(...pairs(decode(decoder, Buffer.from(block)).fields));
    } catch {
      return entries;
    }
  }
}

/** The size by RFC 7541 4.1. */
export const sizeOf = (entries: readonly Pair[]): number =>
  entries.reduce((size, [name, value]) => size + name.length + value.length + 32, 0);
