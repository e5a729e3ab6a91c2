/**
 * Writes the generated documents in place of what stood there.
 *
 *     npm run docs
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../documents.ts';
import { REFERENCE } from './reference.ts';

for (const [path, textOf] of Object.entries(REFERENCE)) {
  writeFileSync(join(ROOT, path), await textOf());
}
