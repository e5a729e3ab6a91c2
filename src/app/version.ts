/** The version of this program, and the commit that it was built from. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface FullVersion {
  readonly version: string;
  /** In the form of `git describe`. Null: it was built without git. */
  readonly commit: string | null;
}

/** Two folders above the compiled file; package.json is beside it, in a clone and in the image. */
const DIST = join(import.meta.dirname, '..', '..');

export function version(): string {
  const text = readFileSync(join(DIST, '..', 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** `finish-build.mjs` has written the commit. */
export function fullVersion(): FullVersion {
  const file = join(DIST, 'commit');
  const commit = existsSync(file) ? readFileSync(file, 'utf8') : '';
  // An image that was built without one has an empty file.
  return { version: version(), commit: commit === '' ? null : commit };
}

/** `1.0.0 (5f79a23f1234)`, for people. */
export function versionInWords(): string {
  const { version, commit } = fullVersion();
  return commit === null ? version : `${version} (${commit})`;
}
