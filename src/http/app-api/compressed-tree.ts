/**
 * The tags of an app, compressed: once for each rendering, in a thread of Node's pool, so that no
 * request waits for another's.
 */

import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Coding } from '../negotiation.ts';
import type { RenderedTree } from './tag-tree.ts';

/** A smaller body fits into a packet or two as it is. */
const BODY_LENGTH_MIN = 1_024;
/**
 * At a time: half of the pool's threads, which look up names and read files too. Beyond it the
 * answer goes as it is.
 */
const COMPRESSIONS_MAX = 2;
/** A tenth smaller than gzip, and as fast. */
const BROTLI_QUALITY = 5;

const COMPRESS: Readonly<Record<Coding, (body: string) => Promise<Buffer>>> = {
  br: (body) =>
    promisify(brotliCompress)(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
    }),
  gzip: (body) => promisify(gzip)(body),
};

/**
 * They go with the tree. A promise is kept while it is compressed, so that all who ask meanwhile
 * share it.
 */
const compressed = new WeakMap<RenderedTree, Map<Coding, Buffer | Promise<Buffer>>>();
let underWay = 0;

/** The body in this coding; null: it is too small for that, or too much is being compressed. */
export function compressTree(tree: RenderedTree, coding: Coding): Buffer | Promise<Buffer> | null {
  if (tree.body.length < BODY_LENGTH_MIN) return null;
  const known = compressed.get(tree)?.get(coding);
  if (known !== undefined) return known;
  if (underWay >= COMPRESSIONS_MAX) return null;
  const codings = compressed.get(tree) ?? new Map<Coding, Buffer | Promise<Buffer>>();
  compressed.set(tree, codings);
  underWay += 1;
  const made = COMPRESS[coding](tree.body).finally(() => {
    underWay -= 1;
    codings.delete(coding);
  });
  const kept = made.then((body) => {
    codings.set(coding, body);
    return body;
  });
  codings.set(coding, kept);
  return kept;
}
