/**
 * Makes of what is installed and built here the service alone, which `node dist/src/main.js` starts
 * on a machine without npm, registry and compiler:
 *
 *     npm run pack:service                 tagcast-<version>.tar.gz, with one folder, tagcast
 *     npm run pack:service -- <folder>     that folder, as the Dockerfile makes it
 */

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
/** A build makes these for tests and tools. */
const NOT_SERVED = ['test', 'bench', 'openapi.json'];
/** Packages that only a build needs: they are installed because `npm start` builds. */
const OF_BUILDS = /^node_modules\/(?:typescript|@typescript\/.+|@types\/.+)$/;
/** The service reads no source maps and types of packages, and no bundles for other pages. */
const NOT_READ = /\.(?:map|d\.[cm]?ts)$|\/swagger-ui-dist\/swagger-ui(?:-es-bundle.*)?\.js$/;

/** The kinds of files that this project has in config/, beside example.env. */
const EXAMPLES = /^(?!.*secret).+\.(?:yaml|json|conf|cfg|service)$/i;

const { name, version, type, engines, bin } = JSON.parse(read('package.json'));
const [wanted] = process.argv.slice(2);
if (wanted === undefined) packTarball();
else makeFolder(resolve(wanted));

function packTarball() {
  const directory = mkdtempSync(join(tmpdir(), 'tagcast-pack-'));
  const file = resolve(`${name}-${version}.tar.gz`);
  try {
    makeFolder(join(directory, name));
    const { status } = spawnSync('tar', ['-czf', file, '-C', directory, name], {
      stdio: ['ignore', 2, 2],
    });
    if (status === 0) process.stdout.write(`${file}\n`);
    else process.exitCode = 1;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function makeFolder(folder) {
  if (existsSync(folder)) fail(`${folder} is there already: name a new one.`);
  mkdirSync(folder, { recursive: true });
  const manifest = { name, version, type, private: true, engines, bin };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const built of readdirSync(join(ROOT, 'dist'))) {
    if (!NOT_SERVED.includes(built)) copy(join('dist', built), folder);
  }
  // The service reads this source: the compiler copies no SQL.
  copy(join('src', 'database', 'schema.sql'), folder);
  // The context of an image has none. Other files there may hold secrets of this machine.
  if (existsSync(join(ROOT, 'config'))) copy('config', folder, isExample);
  for (const path of packagesOfService()) {
    copy(path, folder, (from) => basename(from) !== 'node_modules' && !NOT_READ.test(from));
  }
}

/** The folders of the installed packages that the service loads. */
function packagesOfService() {
  const { packages } = JSON.parse(read('node_modules/.package-lock.json'));
  return Object.keys(packages).filter((path) => !packages[path].dev && !OF_BUILDS.test(path));
}

function copy(path, folder, filter = () => true) {
  const to = join(folder, path);
  mkdirSync(dirname(to), { recursive: true });
  cpSync(join(ROOT, path), to, { recursive: true, filter });
}

/** A file beside those of this project may hold secrets of this machine. */
function isExample(from) {
  const file = basename(from);
  return statSync(from).isDirectory() || file === 'example.env' || EXAMPLES.test(file);
}

function read(path) {
  return readFileSync(join(ROOT, path), 'utf8');
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}
