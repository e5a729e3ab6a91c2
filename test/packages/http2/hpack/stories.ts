/**
 * The stories of http2jp/hpack-test-case that lie in test/vectors: blocks of one connection in
 * order, and what they hold.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pair } from './blocks.ts';

export interface Story {
  readonly name: string;
  readonly cases: readonly {
    /** From this block on the decoder's limit is another. */
    readonly tableSizeMax: number | undefined;
    readonly block: Buffer;
    readonly fields: readonly Pair[];
  }[];
}

/** From dist/test/http2/hpack back to the root of the repository. */
const VECTORS = join(import.meta.dirname, '../../../../..', 'test/vectors/hpack');

interface StoryFile {
  readonly cases: readonly {
    readonly header_table_size?: number;
    readonly wire: string;
    readonly headers: readonly Readonly<Record<string, string>>[];
  }[];
}

export const STORIES: readonly Story[] = readdirSync(VECTORS, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.json'))
  .sort()
  .map((name) => {
    const { cases } = JSON.parse(readFileSync(join(VECTORS, name), 'utf8')) as StoryFile;
    return {
      name,
      cases: cases.map((one) => ({
        tableSizeMax: one.header_table_size,
        block: Buffer.from(one.wire, 'hex'),
        fields: one.headers.flatMap((header) => Object.entries(header)),
      })),
    };
  });
