/**
 * What `npm start` and `npm test` do first: install what the lockfile says when it has changed, and build when a source
 * is newer than what was built. Further folders with a lockfile of their own, as the bench has one, are arguments. Plain
 * JavaScript without dependencies, since neither is there in a fresh clone.
 *
 * Whoever was broken off is made good by the next: each of the two steps writes that it has come to its end. Two at once in
 * one checkout would delete what the other has just written, so one waits for the other.
 */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
/** The build's last file. */
const BUILT = join(ROOT, 'dist', '.built');
const PATCHES = join(ROOT, 'src', 'patches');
const SOURCES = ['src', 'test', 'bench', 'tsconfig.json', 'package-lock.json'];
/** A test runner's class, which the runner generates anew: broken off it may be gone, and all test runs need it. */
const TAP = join('node_modules', '@tapjs', 'test');
const TAP_CLASS = ['esm', 'commonjs'].map((kind) =>
  join(TAP, 'test-built', 'dist', kind, 'index.js'),
);
/** Between two looks whether the other has ended. */
const TURN_INTERVAL_MS = 200;

await turn();
for (const folder of ['.', ...process.argv.slice(2)]) install(folder);
if (!existsSync(BUILT) || newest(SOURCES) > statSync(BUILT).mtimeMs) {
  process.stderr.write('Building …\n');
  npm(['run', '--silent', 'build']);
}

/** Installs a folder's lockfile, unless it was this one, with these patches, that was installed last: the stamp holds their digest. */
function install(folder) {
  const stamp = join(ROOT, folder, 'node_modules', '.tagcast-lockfile-digest');
  const lockfile = join(folder, 'package-lock.json');
  const hash = createHash('sha256').update(readFileSync(join(ROOT, lockfile)));
  for (const patch of readdirSync(PATCHES)) hash.update(readFileSync(join(PATCHES, patch)));
  const digest = hash.digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest && isWhole(folder)) return;
  process.stderr.write(`Installing what ${lockfile} names …\n`);
  npm(['ci', '--prefix', folder, '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stamp, digest);
}

/** An installation for production has no test runner. */
function isWhole(folder) {
  const here = (path) => existsSync(join(ROOT, folder, path));
  return !here(TAP) || TAP_CLASS.every(here);
}

/**
 * Resolves when no other process prepares this checkout, and keeps others waiting until this one ends. Linux has names of
 * sockets that are taken atomically and vanish with their process; elsewhere nobody waits.
 */
async function turn() {
  if (process.platform !== 'linux') return;
  const { dev, ino } = statSync(ROOT);
  for (let attempt = 0; ; attempt += 1) {
    const server = createServer().unref();
    try {
      await once(server.listen(`\0tagcast-prepare-${dev}-${ino}`), 'listening');
      return;
    } catch (error) {
      if (error.code !== 'EADDRINUSE') throw error;
    }
    if (attempt === 0)
      process.stderr.write('Waiting for another run that installs or builds here …\n');
    await sleep(TURN_INTERVAL_MS);
  }
}

/** Runs npm in the root; its failure is ours. Its output goes to stderr: stdout belongs to the service. */
function npm(args) {
  const { status } = spawnSync('npm', args, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}

/** The latest change below these paths, in epoch milliseconds. */
function newest(paths) {
  return Math.max(
    ...paths.map((path) => {
      const full = join(ROOT, path);
      const stats = statSync(full);
      if (!stats.isDirectory()) return stats.mtimeMs;
      const inside = readdirSync(full).map((name) => join(path, name));
      return inside.length === 0 ? stats.mtimeMs : Math.max(stats.mtimeMs, newest(inside));
    }),
  );
}
