/**
 * Runs Tagcast with other versions of Node: those of `nodes/package.json`, which are packages of
 * one binary each, for Linux on x64 only. For each: the build, the HTTP contract, the main job end
 * to end, a read-only root file system, hostile templates, and the tour of README.md.
 *
 * Each gets the binary of uWebSockets.js that is made for it, and a glibc that the binary can run
 * with. Where these cannot be fetched, a line says so, and the tests of that front are skipped.
 *
 *     npm run test:node [-- 22 24 26] [--run='node dist/bench/run.js register/fronts']
 *
 * With `--run` it builds, and runs that command instead.
 *
 * Each has a checkout of its own in a temporary directory, for what is built. They share the
 * other installed packages: none of those that are run has a binary for one Node.
 */

import type { SpawnOptions } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { nodeOnNewerGlibc } from './nodes/newer-glibc.ts';
import { UWS_SCOPE, uwsPackage, uwsPackageName } from './nodes/uws-package.ts';
import { until } from './poll.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const NODES = join(ROOT, 'test', 'support', 'nodes', 'node_modules');
/** A fresh installation of NODES begins without it. */
const CACHE = join(NODES, '.cache');
/** In a checkout: what is built, run and read there. */
const COPIED = ['package.json', 'package-lock.json', 'tsconfig.json', 'README.md'];
const COPIED_FOLDERS = ['src', 'test', 'bench', 'config', 'packages', 'console', 'docs'];
/** Those of the bench are there once it has run. */
const INSTALLED_FOLDERS = ['console/node_modules', 'bench/peers/node_modules'];
const TESTS = [
  'dist/test/http',
  'dist/test/packages/http1',
  'dist/test/packages/http1-uws',
  'dist/test/api/server.test.js',
  'dist/test/templates',
  'dist/test/end-to-end/certificate.test.js',
  'dist/test/end-to-end/closing.test.js',
  'dist/test/end-to-end/fronts-alike.test.js',
  'dist/test/end-to-end/main-job.test.js',
  'dist/test/end-to-end/no-binary.test.js',
  'dist/test/end-to-end/read-only.test.js',
];
/** Shows the failures and the totals. */
const TEST_RUN = `node dist/test/support/run.js --reporter=tap ${TESTS.join(' ')} >tests.log
  status=$?
  [ $status -eq 0 ] || grep -n -A 40 -E '^ *not ok' tests.log | head -n 300
  tail -n 2 tests.log
  exit $status`;
/** A step takes a minute on two cores; ten of them are a step that hangs. */
const STEP_TIMEOUT_MS = 600_000;
/** A command of the person who runs this, who can end it: a bench takes longer. */
const NO_LIMIT = 0;
const STARTED_WITHIN_MS = 120_000;

interface Place {
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  /** The package of uWebSockets.js in it; null: none that its Node can load. */
  readonly uwsName: string | null;
}

type Step = readonly [name: string, run: (place: Place) => Promise<boolean>];

const BUILD: Step = [
  'build',
  ({ folder, environment }) => ran('npm run --silent build', folder, environment),
];
const STEPS: readonly Step[] = [
  BUILD,
  [
    'HTTP contract, templates, main job and read-only root',
    ({ folder, environment }) => ran(TEST_RUN, folder, environment),
  ],
  ['tour', tour],
];
/** Before the others, where there is such a binary. */
const UWS_STEP: Step = [
  'uWebSockets.js loads',
  ({ folder, environment, uwsName }) => ran(`node -e "require('${uwsName}')"`, folder, environment),
];

if (process.platform !== 'linux' || process.arch !== 'x64') {
  tell('test:node: the packages of Node that this runs are for Linux on x64 only.');
  process.exit(1);
}
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { run: { type: 'string' } },
});
const { run: command } = values;
const steps: readonly Step[] =
  command === undefined
    ? STEPS
    : [BUILD, [command, ({ folder, environment }) => ran(command, folder, environment, NO_LIMIT)]];
const failed: string[] = [];
for (const major of positionals.length > 0 ? positionals : ['22', '24', '26']) await runWith(major);
tell(failed.length === 0 ? 'All of it holds.' : `Failed:\n  ${failed.join('\n  ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** Goes through the steps with one Node; what fails is noted. */
async function runWith(major: string): Promise<void> {
  const installed = join(NODES, `node-${major}`, 'bin', 'node');
  if (!existsSync(installed)) {
    failed.push(`Node ${major}: test/support/nodes/package.json does not name it`);
    return;
  }
  const { node, uws } = findRuntime(major, installed);
  const folder = mkdtempSync(join(tmpdir(), `tagcast-node-${major}-`));
  try {
    fillCheckout(folder, major, uws);
    const path = `${dirname(node)}${delimiter}${process.env['PATH'] ?? ''}`;
    const place = {
      folder,
      environment: { ...process.env, PATH: path },
      uwsName: uws === null ? null : uwsPackageName(major),
    };
    for (const [name, run] of uws === null ? steps : [UWS_STEP, ...steps]) {
      const title = `Node ${major}: ${name}`;
      tell(`=== ${title}`);
      const startedMs = performance.now();
      const holds = await run(place);
      tell(
        `${holds ? 'ok' : 'FAILED'} after ${Math.round((performance.now() - startedMs) / 1_000)} s`,
      );
      if (!holds) failed.push(title);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Runtime {
  readonly node: string;
  /** The folder of its package of uWebSockets.js; null: none that it can load. */
  readonly uws: string | null;
}

/** The installed Node, or a copy that can load uWebSockets.js. */
function findRuntime(major: string, installed: string): Runtime {
  const uws = uwsPackage(ROOT, major, CACHE);
  const node = 'missing' in uws ? uws : nodeOnNewerGlibc(installed, CACHE);
  if ('path' in uws && 'path' in node) return { node: node.path, uws: uws.path };
  const reason = 'missing' in node ? node.missing : '';
  tell(`Node ${major} runs without uWebSockets.js, whose tests are skipped: ${reason}`);
  return { node: installed, uws: null };
}

/** Copies what is built there, and links what is installed here. */
function fillCheckout(folder: string, major: string, uws: string | null): void {
  for (const name of [...COPIED, ...COPIED_FOLDERS]) {
    const filter = (path: string): boolean => !path.includes('node_modules');
    cpSync(join(ROOT, name), join(folder, name), { recursive: true, filter });
  }
  for (const name of INSTALLED_FOLDERS) {
    if (existsSync(join(ROOT, name))) symlinkSync(join(ROOT, name), join(folder, name));
  }
  const packages = join(folder, 'node_modules');
  mkdirSync(packages);
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    // The binaries there are for the Node that has installed them.
    if (name === UWS_SCOPE) continue;
    symlinkSync(join(ROOT, 'node_modules', name), join(packages, name));
  }
  if (uws === null) return;
  const link = join(packages, uwsPackageName(major));
  mkdirSync(dirname(link));
  symlinkSync(uws, link);
}

/** Runs a shell command to its end; whether it ended well and in time. */
async function ran(
  command: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
  timeout = STEP_TIMEOUT_MS,
): Promise<boolean> {
  const options: SpawnOptions = { cwd, env, stdio: 'inherit', timeout };
  const [code] = await once(spawn('bash', ['-c', command], options), 'exit');
  return code === 0;
}

/**
 * The service as `npm start` starts it, and the lines of README.md pasted; nothing may be on its
 * standard error.
 */
async function tour({ folder, environment }: Place): Promise<boolean> {
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly start: string };
  };
  const lines = /^## The tour$.*?^```sh\n(.*?)^```$/ms.exec(
    readFileSync(join(folder, 'README.md'), 'utf8'),
  )?.[1];
  if (lines === undefined) throw new Error('README.md has no tour');
  const file = (name: string): string => join(folder, name);
  const engine = spawn('bash', ['-c', scripts.start], {
    cwd: folder,
    env: { ...environment, PORT: '0' },
    stdio: ['ignore', openSync(file('log'), 'w'), openSync(file('errors'), 'w')],
  });
  const exited = once(engine, 'exit');
  try {
    const started = await until(
      'the service listens',
      () => {
        if (engine.exitCode !== null) return 'ended';
        return readFileSync(file('log'), 'utf8').includes('"msg":"listening"') ? 'listens' : null;
      },
      STARTED_WITHIN_MS,
    );
    // The push of the tour takes a moment, which a reader's pasting takes as well.
    const done = `for i in $(seq 60); do
      status=$(curl -s -H "Authorization: Bearer $(demo d.superUser.token)" $base/push-api/status/$job)
      [[ $status == *'"state":"FINISHED"'*'"successCount":1501'*'"state":"FINISHED"'*'"successCount":1500'* ]] && exit 0
      sleep 0.5
    done
    echo "status stayed $status"; exit 1`;
    const held =
      started === 'listens' && (await ran(`set -e\n${lines}\n${done}`, folder, environment));
    engine.kill('SIGTERM');
    const [code] = await exited;
    const errors = readFileSync(file('errors'), 'utf8');
    if (code !== 0) tell(`The service ended with ${code}:\n${readFileSync(file('log'), 'utf8')}`);
    if (errors !== '') tell(`The service wrote on standard error:\n${errors}`);
    return held && code === 0 && errors === '';
  } finally {
    engine.kill('SIGKILL');
  }
}

function tell(line: string): void {
  process.stdout.write(`${line}\n`);
}
