/**
 * What `npm start` and `npm test` do first: install what the lockfile says when it has changed, and build when a source
 * is newer than what was built. Further folders with a lockfile of their own, as the bench has one, are arguments. Plain
 * JavaScript without dependencies, since neither is there in a fresh clone.
 */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const BUILT = join(ROOT, 'dist', 'src', 'main.js');
const PATCHES = join(ROOT, 'src', 'patches');
const SOURCES = ['src', 'test', 'bench', 'tsconfig.json', 'package-lock.json'];

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
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  process.stderr.write(`Installing what ${lockfile} names …\n`);
  npm(['ci', '--prefix', folder, '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stamp, digest);
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
