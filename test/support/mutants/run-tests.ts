/** One run of test files in a checkout, broken off at the first failure. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { NODE_FLAGS } from '../node-flags.ts';

/** How the run went. */
export type TestRun =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly file: string }
  /** It ended with a failure of no file. */
  | { readonly kind: 'crashed' }
  /** Its time was over, or it was interrupted: these had not ended, or all but the runner had. */
  | { readonly kind: 'cut'; readonly unfinished: readonly string[] };

interface Run {
  /** The checkout. */
  readonly folder: string;
  readonly files: readonly string[];
  readonly limitMs: number;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** The runner's line when a file has ended, after all output of the file itself. */
const FILE_ENDED = /^(not )?ok \d+ - (\S+)/;
/** Long files are no failures here. */
const NO_BUDGET = '--budget=3600';
/** For servers and directories of tests to go; what is left then is killed. */
const ENDING_MS = 3_000;

/** Runs test files, relative to dist, in a group of processes of which none is left afterwards. */
export async function runTests(run: Run): Promise<TestRun> {
  const { folder, files, limitMs, environment, signal } = run;
  const paths = files.map((file) => `dist/${file}`);
  const tests = spawn(
    process.execPath,
    [...NODE_FLAGS, 'dist/test/support/run.js', '--reporter=tap', NO_BUDGET, ...paths],
    { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'ignore'], detached: true },
  );
  const exited = once(tests, 'exit');
  const unfinished = new Set(files);
  const broken = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(limitMs))]);
  const cut = new Promise<TestRun>((resolve) => {
    const stop = (): void =>
      resolve({ kind: 'cut', unfinished: unfinished.size === 0 ? files : [...unfinished] });
    if (broken.aborted) stop();
    broken.addEventListener('abort', stop);
  });
  const failed = new Promise<TestRun>((resolve) => {
    createInterface({ input: tests.stdout }).on('line', (line) => {
      const [, not, path = ''] = FILE_ENDED.exec(line) ?? [];
      const file = path.replace(/^dist\//, '');
      if (!unfinished.has(file)) return;
      if (not !== undefined) resolve({ kind: 'failed', file });
      unfinished.delete(file);
    });
  });
  const ended = once(tests, 'close').then(
    ([code]): TestRun => ({ kind: code === 0 ? 'passed' : 'crashed' }),
  );
  const outcome = await Promise.race([failed, ended, cut]);
  await endGroup(tests.pid, exited);
  return outcome;
}

async function endGroup(pid: number | undefined, exited: Promise<unknown>): Promise<void> {
  if (pid === undefined) return;
  signalGroup(pid, 'SIGTERM');
  await Promise.race([exited, sleep(ENDING_MS, undefined, { ref: false })]);
  signalGroup(pid, 'SIGKILL');
  await exited;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // All of them have gone.
  }
}
