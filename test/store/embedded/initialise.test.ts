/**
 * A new database is made whole or not at all, and the machine has the memory back before it is
 * opened.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { initialise } from '../../../src/store/embedded/initialise.ts';
import { startEngine } from '../../support/processes.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const PERMISSIONS = 0o777;
/** With initdb in the engine it was 890 to 930 MB; the engine itself takes 350. */
const ENGINE_PEAK_MB_MAX = 600;
/** initdb and the part of the engine that waits for it. */
const BOTH_PEAK_MB_MAX = 750;
const LOOK_EVERY_MS = 20;

t.test('what somebody who was killed has left goes, and the database is there', async (t) => {
  const folder = temporaryDirectory(t);
  mkdirSync(join(folder, 'postgres.new-of-somebody'));
  writeFileSync(join(folder, 'postgres.new-of-somebody', 'PG_VERSION'), '18\n');
  const directory = join(folder, 'postgres');
  await initialise(directory);
  t.same(readdirSync(folder), ['postgres']);
  t.ok(statSync(join(directory, 'PG_VERSION')).isFile());
  t.equal(statSync(directory).mode & PERMISSIONS, 0o700, 'for its owner only');

  writeFileSync(join(directory, 'of-ours'), '');
  await initialise(directory);
  t.ok(statSync(join(directory, 'of-ours')).isFile(), 'one that is there is left alone');
});

t.test('an initdb that fails leaves nothing, and the error holds what it said', (t) => {
  const folder = temporaryDirectory(t);
  // Its own process has this environment from its start; initdb's gets what it finds then.
  const script = `
    import { initialise } from ${JSON.stringify(new URL('../../../src/store/embedded/initialise.js', import.meta.url).href)};
    process.env.NODE_OPTIONS = '--no-such-option';
    await initialise(${JSON.stringify(join(folder, 'postgres'))}).catch(({ message, cause }) =>
      console.log(JSON.stringify({ message, stderr: cause.stderr })));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
  t.match(JSON.parse(stdout), {
    message: 'initdb has failed',
    stderr: /no-such-option/,
  });
  t.same(readdirSync(folder), []);
  t.end();
});

t.test(
  'the first start of an engine takes less than two databases',
  { skip: process.platform !== 'linux' && 'no /proc' },
  async (t) => {
    let bothMb = 0;
    const timer = setInterval(() => {
      bothMb = Math.max(bothMb, residentMbOfChildren(process.pid));
    }, LOOK_EVERY_MS);
    const { child } = await startEngine(t, temporaryDirectory(t));
    clearInterval(timer);
    const engineMb = statusMb(child.pid ?? 0, 'VmHWM');
    t.ok(engineMb > 100 && engineMb < ENGINE_PEAK_MB_MAX, `${engineMb} MB at the engine's peak`);
    t.ok(bothMb > engineMb / 2 && bothMb < BOTH_PEAK_MB_MAX, `${bothMb} MB at the peak of both`);
  },
);

/** Of all processes below this one, now. */
function residentMbOfChildren(pid: number): number {
  return childrenOf(pid).reduce(
    (sum, child) => sum + statusMb(child, 'VmRSS') + residentMbOfChildren(child),
    0,
  );
}

function childrenOf(pid: number): readonly number[] {
  return threadsOf(pid).flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

function statusMb(pid: number, name: 'VmHWM' | 'VmRSS'): number {
  const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(read(`/proc/${pid}/status`));
  return Math.round(Number(kilobytes?.[1] ?? 0) / 1_024);
}

/** Empty when the process has ended meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
