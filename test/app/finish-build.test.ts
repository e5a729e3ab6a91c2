import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { ROOT } from '../support/documents.ts';
import { runProgram } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** A checkout with a client that needs no compiler. */
function makeCheckout(t: Test): string {
  const root = temporaryDirectory(t);
  for (const folder of ['src/app', 'packages/client', 'dist/src'])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'dist', 'src', 'main.js'), '');
  const script = ['src', 'app', 'finish-build.mjs'];
  copyFileSync(join(ROOT, ...script), join(root, ...script));
  const client = { name: 'tagcast-client', version: '1.0.0' };
  writeFileSync(join(root, 'packages', 'client', 'package.json'), JSON.stringify(client));
  writeFileSync(join(root, '.gitignore'), 'dist/\n');
  return root;
}

async function finish(t: Test, root: string) {
  const script = join(root, 'src', 'app', 'finish-build.mjs');
  const { code, err } = await runProgram(t, process.execPath, [script, 'start']);
  t.equal(code, 0, err);
  const commit = join(root, 'dist', 'commit');
  t.equal(readFileSync(join(root, 'dist', '.built'), 'utf8'), 'start');
  t.ok(existsSync(join(root, 'dist', 'guides', 'tagcast-client.tgz')), 'the client is packed');
  const { mode } = statSync(join(root, 'dist', 'src', 'main.js'));
  t.equal(mode & 0o111, 0o111, 'the program is executable');
  return existsSync(commit) ? readFileSync(commit, 'utf8') : null;
}

async function git(t: Test, root: string, args: readonly string[]): Promise<string> {
  const person = ['-c', 'user.name=T', '-c', 'user.email=t@example.com'];
  const { code, out, err } = await runProgram(t, 'git', ['-C', root, ...person, ...args]);
  if (code !== 0) throw new Error(err);
  return out.toString().trim();
}

t.test('a build in a clone knows its commit, one elsewhere has none', async (t) => {
  const root = makeCheckout(t);
  t.equal(await finish(t, root), null, 'without git');
  await git(t, root, ['init', '--quiet']);
  await git(t, root, ['add', '.']);
  await git(t, root, ['commit', '--quiet', '--message=First']);
  const commit = (await git(t, root, ['rev-parse', 'HEAD'])).slice(0, 12);
  t.equal(await finish(t, root), commit);
  writeFileSync(
    join(root, 'packages', 'client', 'package.json'),
    '{"name":"tagcast-client","version":"1.0.1"}',
  );
  t.equal(await finish(t, root), `${commit}-dirty`, 'of changed sources it says so');
});
