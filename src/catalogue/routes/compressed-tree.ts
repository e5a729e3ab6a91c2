/** Compresses an app's tags once per rendering, in Node's pool: no request waits for another's. */

import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Coding } from '../../http/negotiation.ts';
import type { RenderedTree } from '../tag-tree.ts';

/**
 * A smaller body fits into one or two packets uncompressed.
 * @limit characters of a body of `tags` from which it is compressed → it goes as it is
 */
const BODY_LENGTH_MIN = 1_024;
/**
 * Half of the pool's threads, which also look up names and read files.
 * @limit bodies of `tags` that are compressed at a time → it goes as it is
 */
const COMPRESSIONS_MAX = 2;
/** The result is a tenth smaller than with gzip, in the same time. */
const BROTLI_QUALITY = 5;

const COMPRESS: Readonly<Record<Coding, (body: string) => Promise<Buffer>>> = {
  br: (body) =>
    promisify(brotliCompress)(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
    }),
  gzip: (body) => promisify(gzip)(body),
};

/** An entry disappears with its tree. A promise while it is compressed, for concurrent requests. */
const compressed = new WeakMap<RenderedTree, Map<Coding, Buffer | Promise<Buffer>>>();
let underWay = 0;

/** The body in this coding; null: it is too small, or too many compressions are under way. */
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
