/** Directories that last as long as a test. Short paths: Unix sockets live in them. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Lifetime } from './lifetime.ts';

/** Makes a directory with these files, by name; removed when the test has ended. */
export function temporaryDirectory(
  t: Lifetime,
  files: Readonly<Record<string, string>> = {},
  parent = tmpdir(),
): string {
  const directory = mkdtempSync(join(parent, 'tagcast-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}
