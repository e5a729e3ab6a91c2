/**
 * The last step of a build: packs the client for browsers and Node, which the engine serves beside
 * the guides, writes which commit this is, if git knows, and makes the program executable. Plain
 * JavaScript, as prepare.mjs, which reads what is written last.
 *
 *     node src/app/finish-build.mjs start|test
 */

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const DIST = join(ROOT, 'dist');
const CLIENT = join(ROOT, 'packages', 'client');
/** Long enough for every repository to come. */
const COMMIT_DIGITS = 12;

const [level] = process.argv.slice(2);

packClient();
noteCommit();
// The command that `npm link` makes leads here.
chmodSync(join(DIST, 'src', 'main.js'), 0o755);
writeFileSync(join(DIST, '.built'), level);

function packClient() {
  const out = run('npm', ['pack', '--silent', '--offline', '--pack-destination', DIST], CLIENT);
  if (out === null) process.exit(1);
  // Compiled for the package alone: sources stay beside sources.
  rmSync(join(CLIENT, 'dist'), { recursive: true, force: true });
  mkdirSync(join(DIST, 'guides'), { recursive: true });
  renameSync(join(DIST, out.trim().split('\n').at(-1)), join(DIST, 'guides', 'tagcast-client.tgz'));
}

/** A clone has `.git`; a folder that lies in another repository has none of its own. */
function noteCommit() {
  const file = join(DIST, 'commit');
  rmSync(file, { force: true });
  if (!existsSync(join(ROOT, '.git'))) return;
  const describing = [
    'describe',
    '--always',
    '--dirty',
    '--exclude=*',
    `--abbrev=${COMMIT_DIGITS}`,
  ];
  const commit = run('git', describing, ROOT);
  if (commit !== null) writeFileSync(file, commit.trim());
}

/** Returns what a program prints; null: it is not there, or has failed. stderr is ours. */
function run(program, args, cwd) {
  const { status, stdout } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return status === 0 ? stdout : null;
}
