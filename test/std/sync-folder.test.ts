/** Syncing the names in a folder. */

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { syncFolder } from '../../src/std/sync-folder.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

t.test('a folder that may not be read is no fault, and one that is not there is one', (t) => {
  const folder = join(temporaryDirectory(t), 'folder');
  t.throws(() => syncFolder(folder), { code: 'ENOENT' });
  mkdirSync(folder);
  writeFileSync(join(folder, 'file'), '');
  t.doesNotThrow(() => syncFolder(folder));
  chmodSync(folder, 0o300);
  t.doesNotThrow(() => syncFolder(folder));
  chmodSync(folder, 0o700);
  t.end();
});
