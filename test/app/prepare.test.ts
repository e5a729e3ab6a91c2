import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { until } from '../support/poll.ts';
import { collect, runProgram } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/**
 * Stands for the compiler: notes that it ran, writes half of what it has to, waits while it is to,
 * writes the rest.
 */
const COMPILER = `#!/usr/bin/env node
const fs = require('node:fs');
fs.appendFileSync('compiled', '.');
fs.mkdirSync('dist/src', { recursive: true });
fs.writeFileSync('dist/src/main.js', '');
while (fs.existsSync('hold')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
fs.writeFileSync('dist/rest.js', '');
`;

/** Stands for the last step of a build: writes that the build is complete, and packs nothing. */
const LAST_STEP = `import { writeFileSync } from 'node:fs';
writeFileSync('dist/.built', process.argv[2]);
`;

/** A copy of `makeProject`'s, which costs three runs of npm. */
async function makeCheckout(t: Test): Promise<string> {
  made ??= makeProject();
  const root = temporaryDirectory(t);
  cpSync(await made, root, { recursive: true });
  return root;
}

let made: Promise<string> | null = null;

/**
 * A project of a compiler for the service and a runner for its tests, which npm installs without a
 * network, prepared by the real script and built by the real command.
 */
async function makeProject(): Promise<string> {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly build: string; readonly 'build:service': string };
  };
  const root = temporaryDirectory(t, { 'tsconfig.json': '{}' });
  for (const folder of [
    'src/app',
    'src/patches',
    'test',
    'bench',
    'packages/client/src',
    'console/src',
    'console/guides',
    'docs',
    'console/node_modules',
    'runner',
    'compiler',
  ]) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  copyFileSync(join(ROOT, 'src', 'app', 'prepare.mjs'), join(root, 'src', 'app', 'prepare.mjs'));
  writeFileSync(join(root, 'src', 'app', 'finish-build.mjs'), LAST_STEP);
  writeFileSync(join(root, 'compiler', 'tsc.js'), COMPILER, { mode: 0o755 });
  const compiler = { name: 'compiler', version: '1.0.0', bin: { tsc: 'tsc.js' } };
  writeFileSync(join(root, 'compiler', 'package.json'), JSON.stringify(compiler));
  const runner = { name: 'runner', version: '1.0.0' };
  writeFileSync(join(root, 'runner', 'package.json'), JSON.stringify(runner));
  for (const name of ['compiler', 'runner']) {
    await npm(t, root, ['pack', join(root, name), `--pack-destination=${root}`]);
  }
  const project = {
    name: 'checkout',
    version: '1.0.0',
    scripts: { build: scripts.build, 'build:service': scripts['build:service'] },
    dependencies: { compiler: 'file:compiler-1.0.0.tgz' },
    devDependencies: { runner: 'file:runner-1.0.0.tgz' },
  };
  writeFileSync(join(root, 'package.json'), JSON.stringify(project));
  await npm(t, root, ['install', '--package-lock-only', '--offline']);
  makeConsole(root);
  return root;
}

/** Has no packages, and a build that notes that it ran. */
function makeConsole(root: string): void {
  const folder = join(root, 'console');
  for (const file of ['index.html', 'vite.config.ts']) writeFileSync(join(folder, file), '');
  const build = `node -e "fs.writeFileSync('../dist/console.js', '')"`;
  const project = { name: 'pages', version: '1.0.0', scripts: { build } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(project));
  const lock = { name: 'pages', version: '1.0.0', lockfileVersion: 3, packages: { '': {} } };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
}

async function npm(t: Test, root: string, args: readonly string[]): Promise<void> {
  const { code, err } = await runProgram(t, 'npm', ['--prefix', root, '--loglevel=error', ...args]);
  if (code !== 0) throw new Error(err);
}

const prepare = (t: Test, root: string, level = 'test') =>
  runProgram(t, process.execPath, [join(root, 'src', 'app', 'prepare.mjs'), level]);

/** In a group of its own, as a terminal's Ctrl-C would reach all of it. */
const startPrepare = (root: string): ChildProcess =>
  spawn(process.execPath, [join(root, 'src', 'app', 'prepare.mjs'), 'test'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });

const compilations = (root: string): number => {
  const path = join(root, 'compiled');
  return existsSync(path) ? readFileSync(path, 'utf8').length : 0;
};

t.test('installs and builds once, and builds again when a source is newer', async (t) => {
  const root = await makeCheckout(t);
  const first = await prepare(t, root);
  t.match(first, { code: 0, err: /^Installing what package-lock.json names …\n.*Building …\n/s });
  t.match(await prepare(t, root), { code: 0, err: /^$/ }, 'nothing is left to do');
  t.equal(compilations(root), 1);
  t.ok(existsSync(join(root, 'dist', 'console.js')), 'the console was built too');
  const later = new Date(Date.now() + 1_000);
  utimesSync(join(root, 'tsconfig.json'), later, later);
  t.match(await prepare(t, root), { code: 0, err: 'Building …\n' }, 'a newer source is built');
  const evenLater = new Date(Date.now() + 2_000);
  utimesSync(join(root, 'console', 'index.html'), evenLater, evenLater);
  t.match(await prepare(t, root), { code: 0, err: 'Building …\n' }, 'the console too');
  const packages = join(root, 'test', 'node_modules');
  mkdirSync(packages);
  for (const path of ['tsconfig.json', 'console/index.html', 'test']) {
    utimesSync(join(root, path), 0, 0);
  }
  utimesSync(packages, later, later);
  t.match(await prepare(t, root), { code: 0, err: /^$/ }, 'an installed package is no source');
});

t.test('a start installs what the service needs, and tests add theirs', async (t) => {
  const root = await makeCheckout(t);
  const compiler = join(root, 'node_modules', 'compiler');
  const runner = join(root, 'node_modules', 'runner');
  t.match(await prepare(t, root, 'start'), { code: 0, err: /^Installing .*Building …\n/s });
  t.ok(existsSync(compiler));
  t.notOk(existsSync(runner), 'no test runner for a start');
  t.match(await prepare(t, root, 'start'), { code: 0, err: /^$/ }, 'nothing is left to do');

  writeFileSync(join(compiler, 'in-use'), '');
  t.match(await prepare(t, root, 'test'), { code: 0, err: /^Installing .*Building …\n/s });
  t.ok(existsSync(runner));
  t.ok(existsSync(join(compiler, 'in-use')), 'what was there has stayed');
  t.equal(compilations(root), 2);
  for (const level of ['start', 'test']) {
    t.match(await prepare(t, root, level), { code: 0, err: /^$/ }, `back to ${level}`);
  }

  writeFileSync(join(root, 'src', 'patches', 'compiler+1.0.0.patch'), '');
  t.match(await prepare(t, root, 'start'), { code: 0, err: /^Installing / }, 'a new patch');
  t.notOk(existsSync(join(compiler, 'in-use')), 'is installed from the beginning');
});

t.test(
  'what npm has installed already is taken, and stays when nothing else can be had',
  async (t) => {
    const root = await makeCheckout(t);
    const compiler = join(root, 'node_modules', 'compiler');
    await npm(t, root, ['ci', '--omit=dev', '--offline']);
    writeFileSync(join(compiler, 'by-hand'), '');
    t.match(await prepare(t, root, 'start'), { code: 0, err: 'Building …\n' }, 'taken as it is');
    t.ok(existsSync(join(compiler, 'by-hand')));
    t.match(await prepare(t, root, 'start'), { code: 0, err: /^$/ }, 'nothing is left to do');

    writeFileSync(join(root, 'package-lock.json'), 'a lockfile that npm refuses');
    const refused = await prepare(t, root, 'start');
    t.not(refused.code, 0);
    t.ok(existsSync(join(compiler, 'by-hand')), 'what was there has stayed');
    t.notOk(existsSync(join(root, 'node_modules.before')));
  },
);

t.test('packages that a killed run had moved aside come back', async (t) => {
  const root = await makeCheckout(t);
  t.match(await prepare(t, root, 'start'), { code: 0 });
  renameSync(join(root, 'node_modules'), join(root, 'node_modules.before'));
  mkdirSync(join(root, 'node_modules', 'half'), { recursive: true });
  t.match(await prepare(t, root, 'start'), { code: 0, err: /^$/ });
  t.ok(existsSync(join(root, 'node_modules', 'compiler')));
  t.notOk(existsSync(join(root, 'node_modules', 'half')));
});

t.test('a build that was broken off is done again', async (t) => {
  const root = await makeCheckout(t);
  writeFileSync(join(root, 'hold'), '');
  const broken = startPrepare(root);
  const exited = once(broken, 'exit');
  await until('half is built', () => existsSync(join(root, 'dist', 'src', 'main.js')) || null);
  if (broken.pid !== undefined) process.kill(-broken.pid, 'SIGKILL');
  await exited;
  rmSync(join(root, 'hold'));
  t.notOk(existsSync(join(root, 'dist', 'rest.js')));
  t.match(await prepare(t, root), { code: 0, err: 'Building …\n' });
  t.ok(existsSync(join(root, 'dist', 'rest.js')));
});

const skip = process.platform === 'linux' ? false : 'elsewhere nobody waits';
t.test('of two at once the second waits, and finds everything done', { skip }, async (t) => {
  const root = await makeCheckout(t);
  writeFileSync(join(root, 'hold'), '');
  const first = startPrepare(root);
  const exited = once(first, 'exit');
  await until('the first builds', () => (compilations(root) === 1 ? true : null));
  const second = startPrepare(root);
  const said = collect(second);
  const closed = once(second, 'close');
  // It says so before it waits; a second builder would be noted instead.
  await until('the second waits', () => (said() !== '' || compilations(root) > 1 ? true : null));
  rmSync(join(root, 'hold'));
  t.strictSame(await exited, [0, null]);
  t.strictSame(await closed, [0, null]);
  t.equal(said(), 'Waiting for another run that installs or builds here …\n');
  t.equal(compilations(root), 1);
});
