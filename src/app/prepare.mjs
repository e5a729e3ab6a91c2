/**
 * The first step of `npm start` and `npm test`: installs the packages of the lockfile when it has
 * changed, and builds when a source is newer than the build. Plain JavaScript without dependencies,
 * since neither is there in a fresh clone.
 *
 *     node src/app/prepare.mjs start|test [folders with a lockfile of their own, as the bench has one]
 *
 * `start` is the service with its compiler; `test` is all, three quarters of which the service does
 * not need. What was prepared for tests serves a start as well, and what was prepared for a start
 * is added to, not installed again.
 *
 * An installation that somebody made by npm is taken as it is when it has all that the lockfile
 * names: a machine without a registry cannot make it again. Packages that are to be replaced are
 * moved aside until the others are there.
 *
 * A run that was broken off is repaired by the next: each of the two steps writes that it is
 * complete. Two at once in one checkout would delete what the other has just written, so one waits
 * for the other.
 */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
/** The build's last file: finish-build.mjs writes it. */
const BUILT = join(ROOT, 'dist', '.built');
const PATCHES = join(ROOT, 'src', 'patches');
/**
 * Packages whose sources are written, not generated: the service, the console and the guides need
 * them.
 */
const PACKAGE_SOURCES = readdirSync(join(ROOT, 'packages'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name }) =>
    readdirSync(join(ROOT, 'packages', name))
      .filter((inside) => inside !== 'node_modules' && inside !== 'dist')
      .map((inside) => join('packages', name, inside)),
  );
/** Further sources of the console and the guides: their own, and the documents. */
const CONSOLE_SOURCES = [
  'console/src',
  'console/guides',
  'docs',
  'console/index.html',
  'console/vite.config.ts',
  'console/package-lock.json',
];
/** For each level: what npm leaves out, how it is built, and from what. */
const LEVELS = {
  start: {
    omits: '--omit=dev',
    build: 'build:service',
    sources: ['src', 'tsconfig.json', 'package-lock.json', ...PACKAGE_SOURCES, ...CONSOLE_SOURCES],
  },
  test: {
    omits: '--include=dev',
    build: 'build',
    sources: [
      ...['src', 'test', 'bench', 'tsconfig.json', 'package-lock.json'],
      ...PACKAGE_SOURCES,
      ...CONSOLE_SOURCES,
    ],
  },
};
/** Between two looks whether the other has ended. */
const TURN_INTERVAL_MS = 200;

const [level, ...folders] = process.argv.slice(2);
if (!Object.hasOwn(LEVELS, level))
  throw new Error('Prepare for what? node src/app/prepare.mjs start|test');

await turn();
installForLevel('.');
installForLevel('console');
for (const folder of folders) installFolder(folder);
if (!isBuilt()) {
  process.stderr.write('Building …\n');
  npm(['run', '--silent', LEVELS[level].build]);
}

/**
 * Installs what a folder's lockfile names for this level. The stamp says for which level that was
 * done last, and its digest.
 */
function installForLevel(folder) {
  putBack(folder);
  const digest = digestOf(folder);
  const stamp = stampOf(folder);
  const [installed, forLevel] = readText(stamp).split(' ');
  const isCurrent = installed === digest;
  if (isCurrent && serves(forLevel)) return;
  const { omits } = LEVELS[level];
  if (isCurrent) {
    // A process that is broken off while adding leaves no stamp, and so the next one begins again.
    rmSync(stamp);
    // Adding keeps the packages of an engine that runs here; `npm ci` takes all away first.
    install(folder, ['install', '--no-save', omits]);
  } else if (installed === '' && isInstalled(folder)) runScriptsAfterInstall(folder);
  else installAgain(folder, omits);
  writeFileSync(stamp, `${digest} ${level}`);
}

/** Whether npm has installed all that the lockfile names for this level, also without this script. */
function isInstalled(folder) {
  const modules = modulesOf(folder);
  if (!existsSync(modules)) return false;
  const installed = packagesIn(join(modules, '.package-lock.json'));
  return Object.entries(packagesIn(join(ROOT, folder, 'package-lock.json'))).every(
    ([path, { version, dev, optional }]) =>
      path === '' || optional || (dev && level === 'start') || installed[path]?.version === version,
  );
}

/** The packages of a lockfile by their folders; none without one. */
function packagesIn(lockfile) {
  return existsSync(lockfile) ? JSON.parse(readFileSync(lockfile, 'utf8')).packages : {};
}

/** Applies the patches, which `npm ci --ignore-scripts` leaves out. */
function runScriptsAfterInstall(folder) {
  npm(['run', '--silent', '--if-present', 'postinstall', '--prefix', folder]);
}

/** Installs from the beginning. Without a registry what was there stays. */
function installAgain(folder, omits) {
  const modules = modulesOf(folder);
  if (existsSync(modules)) renameSync(modules, `${modules}.before`);
  install(folder, ['ci', omits], () => putBack(folder));
  // npm makes no folder for a lockfile without packages.
  mkdirSync(modules, { recursive: true });
  discard(modules);
}

/** Deletes the packages that were moved aside. Renamed first: a part of them must not come back. */
function discard(modules) {
  const trash = `${modules}.trash`;
  rmSync(trash, { recursive: true, force: true });
  if (existsSync(`${modules}.before`)) renameSync(`${modules}.before`, trash);
  rmSync(trash, { recursive: true, force: true });
}

/** Takes back the packages that were moved aside by a run that did not come to its end. */
function putBack(folder) {
  const modules = modulesOf(folder);
  if (!existsSync(`${modules}.before`)) return;
  rmSync(modules, { recursive: true, force: true });
  renameSync(`${modules}.before`, modules);
}

/** Installs a further folder's lockfile, unless it was this one that was installed last. */
function installFolder(folder) {
  const digest = digestOf(folder);
  if (readText(stampOf(folder)) === digest) return;
  install(folder, ['ci', '--include=dev']);
  writeFileSync(stampOf(folder), digest);
}

function install(folder, args, onFailure) {
  process.stderr.write(`Installing what ${join(folder, 'package-lock.json')} names …\n`);
  npm([...args, '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error'], onFailure);
}

/** Whether what was prepared for that level is enough for this one. */
function serves(prepared) {
  return prepared === level || prepared === 'test';
}

function isBuilt() {
  if (!serves(readText(BUILT))) return false;
  return newest(LEVELS[level].sources) <= statSync(BUILT).mtimeMs;
}

/** The digest of a folder's lockfile, and of the patches with their names. */
function digestOf(folder) {
  const hash = createHash('sha256').update(readFileSync(join(ROOT, folder, 'package-lock.json')));
  for (const patch of readdirSync(PATCHES)) {
    hash.update(patch).update(readFileSync(join(PATCHES, patch)));
  }
  return hash.digest('hex');
}

function modulesOf(folder) {
  return join(ROOT, folder, 'node_modules');
}

function stampOf(folder) {
  return join(modulesOf(folder), '.tagcast-lockfile-digest');
}

/** The text of a file; '' without one. */
function readText(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/**
 * Resolves when no other process prepares this checkout, and keeps others waiting until this one
 * ends. Linux has names of sockets that are taken atomically and vanish with their process;
 * elsewhere no process waits.
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

/**
 * Runs npm in the root; its failure is ours. Its output goes to stderr: stdout belongs to the
 * service.
 */
function npm(args, onFailure = () => undefined) {
  const { status } = spawnSync('npm', args, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (status === 0) return;
  onFailure();
  process.exit(status ?? 1);
}

/** The latest change below these paths, in epoch milliseconds; that of a package is none. */
function newest(paths) {
  return Math.max(
    ...paths.map((path) => {
      const full = join(ROOT, path);
      const stats = statSync(full);
      if (!stats.isDirectory()) return stats.mtimeMs;
      const names = readdirSync(full).filter((name) => name !== 'node_modules');
      const inside = names.map((name) => join(path, name));
      return inside.length === 0 ? stats.mtimeMs : Math.max(stats.mtimeMs, newest(inside));
    }),
  );
}
