/** Device tokens as APNs hands them out. */

import { createHash } from 'node:crypto';

/** The same ones in every run. */
export const makeTokens = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) =>
    createHash('sha256').update(String(index)).digest('hex'),
  );
