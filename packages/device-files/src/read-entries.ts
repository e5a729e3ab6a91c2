/**
 * Reads a file's entries, a few at a time, as its octets arrive: memory holds one piece of the
 * file, however long it is.
 */

import { asUtf8 } from './as-utf8.ts';
import type { Entry } from './file-device.ts';
import type { Format } from './format.ts';

/** Reads a stream of octets to its end. */
export async function* readEntries(
  octets: AsyncIterable<Buffer>,
  format: Format,
): AsyncGenerator<readonly Entry[], void, undefined> {
  const splitter = format.createSplitter();
  const reader = format.createReader();
  for await (const chunk of asUtf8(octets)) yield reader.read(splitter.push(chunk));
  yield reader.read(splitter.end());
  yield reader.end();
}
