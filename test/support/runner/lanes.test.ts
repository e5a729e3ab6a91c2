/** The runner as a process, on files that pass, fail, leave something open and crash. */

import { spawnSync } from 'node:child_process';
import { join, relative } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { temporaryDirectory } from '../temporary-directory.ts';
import { DIST, ROOT } from './select.ts';

/** Where built tests lie, so that they find tap. */
const TAP = join(ROOT, 'node_modules', 'tap', 'dist', 'esm', 'index.js');

function run(t: Test, files: Readonly<Record<string, string>>, ...flags: readonly string[]) {
  const begun = Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, `import t from '${TAP}';\n${text}`]),
  );
  const directory = temporaryDirectory(t, begun);
  const paths = Object.keys(files).map((name) => relative(ROOT, join(directory, name)));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(DIST, 'test/support/run.js'), '--reporter=tap', '--jobs=1', ...flags, ...paths],
    // The times of these files are not kept.
    { cwd: ROOT, encoding: 'utf8', env: { ...process.env, TEST_TIMES_FILE: join(directory, 't') } },
  );
  return { status, stdout, stderr };
}

const PASSES = "t.test('passes', (t) => { t.ok(1); t.end(); });";

t.test('files that pass share a process', (t) => {
  const sets = `${PASSES}\nglobalThis.wasHere ??= process.pid;\nt.test('pid', (t) => { t.equal(globalThis.wasHere, process.pid); t.end(); });`;
  const { status, stdout } = run(t, { 'a.test.mjs': sets, 'b.test.mjs': sets });
  t.equal(status, 0);
  t.match(stdout, /^ok 1 - .*\.test\.mjs # time=\d+ms$/m);
  t.match(stdout, /^# \{ total: 4, pass: 4 \}$/m);
  t.end();
});

t.test('a failure, a crash and an endless file are of that file alone', (t) => {
  const { status, stdout } = run(
    t,
    {
      'a.test.mjs': "t.test('fails', (t) => { t.equal(1, 2, 'one is two'); t.end(); });",
      'b.test.mjs': "t.test('crashes', () => process.kill(process.pid, 'SIGKILL'));",
      'c.test.mjs': "t.test('hangs', () => new Promise(() => setInterval(() => 0, 1_000)));",
      'd.test.mjs': PASSES,
    },
    '--timeout=1',
  );
  t.equal(status, 1);
  t.match(stdout, /^not ok 1 - .*a\.test/m);
  t.match(stdout, / {8}not ok 1 - one is two/);
  t.match(stdout, /^not ok 2 - .*b\.test/m);
  t.match(stdout, / {4}not ok 1 - the process ended \(SIGKILL\)/);
  t.match(stdout, /^not ok 3 - .*c\.test/m);
  t.match(stdout, /^ok 4 - .*d\.test/m);
  t.end();
});

t.test('an error that nobody catches fails the file that runs', (t) => {
  const rests = 'await new Promise((resolve) => setTimeout(resolve, 50));';
  const { status, stdout } = run(t, {
    'a.test.mjs': `t.test('late', async () => { setTimeout(() => { throw new Error('thrown late'); }); ${rests} });`,
    'b.test.mjs': `t.test('lost', async () => { Promise.reject(new Error('nobody waits')); ${rests} });`,
    'c.test.mjs': PASSES,
  });
  t.equal(status, 1);
  t.match(stdout, / {4}not ok 2 - thrown late[\s\S]*^not ok 1 - .*a\.test/m);
  t.match(stdout, / {4}not ok 2 - nobody waits[\s\S]*^not ok 2 - .*b\.test/m);
  t.match(stdout, /^ok 3 - .*c\.test/m);
  t.end();
});

t.test('what a file leaves behind fails it, and the next one begins without it', (t) => {
  const { status, stdout } = run(t, {
    'a.test.mjs': `${PASSES}\nsetInterval(() => 0, 1_000);`,
    'b.test.mjs': PASSES,
  });
  t.equal(status, 1);
  t.match(stdout, / {4}not ok 2 - leaves behind: 1 of Timeout/);
  t.match(stdout, /^ok 2 - .*b\.test/m);
  t.end();
});

t.test('a file that takes longer than its budget fails', (t) => {
  const slow =
    "t.test('slow', (t) => { const { user } = process.cpuUsage(); while (process.cpuUsage().user - user < 100_000); t.end(); });";
  const { status, stdout } = run(t, { 'a.test.js': slow }, '--budget=0.01');
  t.equal(status, 1);
  t.match(
    stdout,
    /not ok 2 - takes \d+ ms of the processor and \d+ in all: a file has 10, split or/,
  );
  t.end();
});

t.test('--bail stops at the first that fails; --help lists the options', (t) => {
  const fails = "t.test('fails', (t) => { t.fail(); t.end(); });";
  const { status, stdout } = run(t, { 'a.test.mjs': fails, 'b.test.mjs': PASSES }, '--bail');
  t.equal(status, 1);
  t.notMatch(stdout, /b\.test/);
  t.match(run(t, {}, '--help').stdout, /--changed .*--bail/s);
  t.equal(run(t, { 'a.test.mjs': PASSES }, '--stores=embedded').status, 2, 'it wants no store');
  t.end();
});
