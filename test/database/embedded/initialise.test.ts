/**
 * A new database is made whole or not at all, and the machine has the memory back before it is
 * opened.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { initialise } from '../../../src/database/embedded/initialise.ts';
import { untilReady } from '../../support/client.ts';
import { until } from '../../support/poll.ts';
import type { EngineProcess } from '../../support/processes.ts';
import { runCommand, startCommand, startEngine } from '../../support/processes.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const PERMISSIONS = 0o777;
/** With initdb in the engine it was 890 to 930 MB; the engine itself takes 350. */
const ENGINE_PEAK_MB_MAX = 600;
/** initdb and the part of the engine that waits for it. */
const BOTH_PEAK_MB_MAX = 750;
const LOOK_EVERY_MS = 20;
const WITH_FSYNC = { fsync: true, stopping: new AbortController().signal };

t.test('what somebody who was killed has left goes, and the database is there', async (t) => {
  const folder = temporaryDirectory(t);
  mkdirSync(join(folder, 'postgres.new-of-somebody'));
  writeFileSync(join(folder, 'postgres.new-of-somebody', 'PG_VERSION'), '18\n');
  const directory = join(folder, 'postgres');
  t.equal(await initialise(directory, WITH_FSYNC), 'ready');
  t.same(readdirSync(folder), ['postgres']);
  t.ok(statSync(join(directory, 'PG_VERSION')).isFile());
  t.equal(statSync(directory).mode & PERMISSIONS, 0o700, 'for its owner only');

  writeFileSync(join(directory, 'of-ours'), '');
  t.equal(await initialise(directory, WITH_FSYNC), 'ready');
  t.ok(statSync(join(directory, 'of-ours')).isFile(), 'one that is there is left alone');
});

t.test('an initdb that fails leaves nothing, and the error is what it said', (t) => {
  const folder = temporaryDirectory(t);
  // Its own process has this environment from its start; initdb's gets what it finds then.
  const script = `
    import { initialise } from ${JSON.stringify(new URL('../../../src/database/embedded/initialise.js', import.meta.url).href)};
    process.env.NODE_OPTIONS = '--no-such-option';
    const how = { fsync: false, stopping: new AbortController().signal };
    await initialise(${JSON.stringify(join(folder, 'postgres'))}, how)
      .catch(({ message }) => console.log(message));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
  t.match(stdout, /^initdb has failed: .*no-such-option.*\n$/);
  t.same(readdirSync(folder), []);
  t.end();
});

t.test('one that is stopped leaves nothing, and a start after it makes the database', async (t) => {
  const folder = temporaryDirectory(t);
  const directory = join(folder, 'postgres');
  const stopping = new AbortController();
  const how = { fsync: false, stopping: stopping.signal };
  const initialised = initialise(directory, how);
  await until('initdb writes', () => unfinishedIn(folder));
  stopping.abort();
  t.equal(await initialised, 'stopped');
  t.same(readdirSync(folder), []);
  t.equal(await initialise(directory, how), 'stopped', 'not begun');
  t.same(readdirSync(folder), []);
});

t.test(
  'a first start that ends before its time says why, and leaves no database',
  { skip: process.platform !== 'linux' && 'no /proc' },
  async (t) => {
    const dataDir = temporaryDirectory(t);
    const starting = startCommand(t, [], { PORT: '0', DATA_DIR: dataDir });
    const initdb = await initdbOf(starting.child.pid ?? 0, dataDir);
    // A terminal sends Ctrl-C to both.
    process.kill(initdb, 'SIGINT');
    t.equal(await starting.end('SIGINT'), 0, starting.output());
    t.match(starting.output(), /"msg":"stopped"/);
    t.notMatch(starting.output(), /backup|report/);
    t.same(databasesIn(dataDir), []);

    const again = startCommand(t, [], { PORT: '0', DATA_DIR: dataDir });
    process.kill(await initdbOf(again.child.pid ?? 0, dataDir), 'SIGKILL');
    t.equal(await again.ended, 1);
    t.match(again.output(), /^DATA_DIR: no database can be made in .*SIGKILL.* memory .*\.$/m);
    t.same(databasesIn(dataDir), []);
  },
);

t.test(
  'with too few descriptors nothing begins, and with few a first start works',
  { skip: process.platform !== 'linux' && 'the limit is not known' },
  async (t) => {
    const dataDir = temporaryDirectory(t);
    const settings = { PORT: '0', DATA_DIR: dataDir };
    const { code, errors } = await runCommand(t, [], settings, { under: limited(300) });
    t.equal(code, 1);
    t.match(errors, /^DATA_DIR: this process may open 300 files, .* 384 or more: .*ulimit -n.*\n$/);
    t.same(databasesIn(dataDir), []);
    const { engine } = await firstStart();
    await untilReady(engine.baseUrl);
  },
);

const limited = (descriptors: number): readonly string[] => [
  'bash',
  '-c',
  `ulimit -n ${descriptors}; exec "$@"`,
  'bash',
];

const databasesIn = (folder: string): readonly string[] =>
  readdirSync(folder).filter((name) => name.startsWith('postgres'));

/** Null: initdb has not begun to write. */
function unfinishedIn(folder: string): string | null {
  const name = databasesIn(folder).find((candidate) => candidate.startsWith('postgres.new-'));
  return name !== undefined && readdirSync(join(folder, name)).length > 0 ? name : null;
}

/** The process of the initdb that writes into `dataDir`. */
async function initdbOf(pid: number, dataDir: string): Promise<number> {
  await until('initdb writes', () => unfinishedIn(dataDir));
  const [initdb] = childrenOf(pid);
  if (initdb === undefined) throw new Error('no initdb');
  return initdb;
}

t.test(
  'the first start of an engine takes less than two databases',
  { skip: process.platform !== 'linux' && 'no /proc' },
  async (t) => {
    const { engine, bothMb } = await firstStart();
    const engineMb = statusMb(engine.child.pid ?? 0, 'VmHWM');
    t.ok(engineMb > 100 && engineMb < ENGINE_PEAK_MB_MAX, `${engineMb} MB at the engine's peak`);
    t.ok(bothMb > engineMb / 2 && bothMb < BOTH_PEAK_MB_MAX, `${bothMb} MB at the peak of both`);
  },
);

interface FirstStart {
  readonly engine: EngineProcess;
  /** The most that it and its initdb had in memory at a time. */
  readonly bothMb: number;
}

let started: Promise<FirstStart> | null = null;

/** The first start of an engine that may open few files: two tests look at it. */
function firstStart(): Promise<FirstStart> {
  started ??= watchFirstStart();
  return started;
}

async function watchFirstStart(): Promise<FirstStart> {
  let bothMb = 0;
  const timer = setInterval(() => {
    bothMb = Math.max(bothMb, residentMbOfChildren(process.pid));
  }, LOOK_EVERY_MS);
  const engine = await startEngine(t, temporaryDirectory(t), {}, { under: limited(512) });
  clearInterval(timer);
  return { engine, bothMb };
}

/** The memory of all processes below this one, now. */
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
