/** The version of this program. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** package.json is two folders above the compiled file, in a clone and in the image. */
export function version(): string {
  const file = join(import.meta.dirname, '..', '..', '..', 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}
