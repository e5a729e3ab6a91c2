import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { runProgram } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const PATCH = `diff --git a/node_modules/library/first.js b/node_modules/library/first.js
--- a/node_modules/library/first.js
+++ b/node_modules/library/first.js
@@ -1,3 +1,3 @@
 one
-two
+2
 three
diff --git a/node_modules/library/second.js b/node_modules/library/second.js
--- a/node_modules/library/second.js
+++ b/node_modules/library/second.js
@@ -1,2 +1,3 @@
 one
+one and a half
 two
`;

t.test('a patch is applied once', async (t) => {
  const root = makeCheckout(t);
  t.match(await apply(t, root), { code: 0, err: '' });
  t.equal(library(root, 'first.js'), 'one\n2\nthree\n');
  t.equal(library(root, 'second.js'), 'one\none and a half\ntwo\n');
  t.match(await apply(t, root), { code: 0, err: '' });
  t.equal(library(root, 'second.js'), 'one\none and a half\ntwo\n');
});

t.test('an install that died between two files is completed', async (t) => {
  const root = makeCheckout(t);
  writeFileSync(join(root, 'node_modules/library/first.js'), 'one\n2\nthree\n');
  t.match(await apply(t, root), { code: 0, err: '' });
  t.equal(library(root, 'second.js'), 'one\none and a half\ntwo\n');
});

t.test('a patch that does not fit ends the install and changes nothing', async (t) => {
  const root = makeCheckout(t);
  writeFileSync(join(root, 'node_modules/library/second.js'), 'other\n');
  t.match(await apply(t, root), {
    code: 1,
    err: /^src\/patches\/library\+1\.0\.0\.patch does not fit node_modules\/library\/second\.js\. .+\n$/,
  });
  t.equal(library(root, 'first.js'), 'one\ntwo\nthree\n');
});

t.test('so does a patch of another version, of nothing, or without a version', async (t) => {
  const root = makeCheckout(t);
  writeFileSync(join(root, 'node_modules/library/package.json'), '{"version":"1.1.0"}');
  t.match(await apply(t, root), { code: 1, err: /: version 1\.1\.0 of library is installed\./ });
  writeFileSync(join(root, 'src/patches/missing+1.0.0.patch'), PATCH);
  writeFileSync(join(root, 'node_modules/library/package.json'), '{"version":"1.0.0"}');
  t.match(await apply(t, root), { code: 1, err: /: missing is not installed\./ });
  t.equal(library(root, 'first.js'), 'one\ntwo\nthree\n');
  writeFileSync(join(root, 'src/patches/library.patch'), PATCH);
  t.match(await apply(t, root), { code: 1, err: /: call it <package>\+<version>\.patch\./ });
});

/** A checkout with a library, a patch for it, and the script with what it imports. */
function makeCheckout(t: Test): string {
  const root = temporaryDirectory(t, {});
  for (const folder of ['src/app', 'src/patches', 'node_modules/library']) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  copyFileSync(join(ROOT, 'src/app/apply-patches.mjs'), join(root, 'src/app/apply-patches.mjs'));
  cpSync(join(ROOT, 'node_modules/diff'), join(root, 'node_modules/diff'), { recursive: true });
  writeFileSync(join(root, 'src/patches/library+1.0.0.patch'), PATCH);
  writeFileSync(join(root, 'node_modules/library/package.json'), '{"version":"1.0.0"}');
  writeFileSync(join(root, 'node_modules/library/first.js'), 'one\ntwo\nthree\n');
  writeFileSync(join(root, 'node_modules/library/second.js'), 'one\ntwo\n');
  return root;
}

function apply(t: Test, root: string) {
  return runProgram(t, process.execPath, [join(root, 'src/app/apply-patches.mjs')]);
}

function library(root: string, file: string): string {
  return readFileSync(join(root, 'node_modules/library', file), 'utf8');
}
