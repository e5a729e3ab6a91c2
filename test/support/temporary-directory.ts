/** Directories that last as long as a test. Short paths: Unix sockets live in them. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Lifetime } from './lifetime.ts';

/** Makes an empty directory, removed when the test has ended. */
export function temporaryDirectory(t: Lifetime): string {
  const directory = mkdtempSync(join(tmpdir(), 'tagcast-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
