/** A copy of a small checkout, in which built files are changed. */

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { temporaryDirectory } from '../temporary-directory.ts';
import { copyCheckout } from './checkout-copy.ts';

t.test('the copy restores what was built when it was made', (t) => {
  const root = temporaryDirectory(t, { 'package.json': '{}' });
  mkdirSync(join(root, 'dist', 'src'), { recursive: true });
  writeFileSync(join(root, 'dist', 'src', 'a.js'), 'built');
  const copy = copyCheckout(root, temporaryDirectory(t));
  const read = (path: string): string => readFileSync(join(copy.folder, path), 'utf8');
  t.equal(read('package.json'), '{}');

  copy.change('src/a.js', 'changed');
  copy.change('src/a.js', 'changed again');
  t.equal(read('dist/src/a.js'), 'changed again');
  t.equal(readFileSync(join(root, 'dist', 'src', 'a.js'), 'utf8'), 'built');

  rmSync(join(root, 'dist'), { recursive: true });
  copy.restore('src/a.js');
  t.equal(read('dist/src/a.js'), 'built', 'though the real one is gone');

  writeFileSync(join(copy.emptyTemporary(), 'left'), '');
  t.notOk(existsSync(join(copy.emptyTemporary(), 'left')), 'what tests have left is deleted');
  copy.remove();
  t.notOk(existsSync(copy.folder));
  t.ok(existsSync(join(root, 'package.json')));
  t.end();
});
