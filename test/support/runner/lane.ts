/**
 * A lane: one process that runs test files one after another, each as a subtest of one root of tap.
 * Loading Node, tap and the code under test once for many files is what makes small files cheap;
 * what they share (`shared.ts`) is opened once.
 *
 * `lanes.ts` starts it, sends it one `Assignment` at a time, and reads what tap writes from file
 * descriptor 4. Between the files of one lane nothing may be left: see `resources.ts`.
 */

import { createWriteStream, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import { databaseUrl } from '../environment.ts';
import { closeShared, leftInShared } from '../shared.ts';
import type { Assignment, FileReport } from './assignment.ts';
import { NO_MORE, TAP_DESCRIPTOR } from './assignment.ts';
import { allowSince, leftOpen } from './resources.ts';
import { wantStores } from './stores-wanted.ts';
import { t } from './tap.ts';

/**
 * The functions that a file calls on the root. tap has one root in a process: the lane lends it to
 * each file.
 */
const LENT = ['test', 'setTimeout', 'fail', 'teardown', 'comment', 'plan'] as const;

const runTest = t.test.bind(t);
t.setTimeout(0);
const output = createWriteStream('', { fd: TAP_DESCRIPTOR });
t.pipe(output);

// A runner that was killed reads nothing more: the lane would fail at each line, without end.
process.once('disconnect', () => process.exit(1));
output.once('error', () => process.exit(1));

const queue: (Assignment | typeof NO_MORE)[] = [];
let wake = (): void => undefined;
process.on('message', (message: Assignment | typeof NO_MORE) => {
  queue.push(message);
  wake();
});
/** The test of the file that runs; the root between two files. */
let current: Test = t;
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => current.threw(error));
}
allowSince(new Map());
if (databaseUrl !== undefined) await (await import('../store.ts')).administrator();
for await (const assignment of assignments()) await run(assignment);
await closeShared();
// Whatever a failed test has left would keep the process.
output.end(() => process.exit());

async function* assignments(): AsyncGenerator<Assignment> {
  for (;;) {
    while (queue.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const next = queue.shift();
    if (next === undefined || next === NO_MORE) return;
    yield next;
  }
}

async function run({ file, stores, timeoutMs }: Assignment): Promise<void> {
  const startMs = performance.now();
  const startCpuMs = cpuMs();
  const before = { ...t.counts };
  wantStores(stores);
  await runTest(file, { timeout: timeoutMs }, async (test) => {
    current = test;
    lend(test);
    await import(pathToFileURL(resolve(file)).href);
  });
  current = t;
  const left = [...(await leftOpen()), ...(await leftInShared())];
  const { total, pass, fail, skip, todo } = t.counts;
  const report: FileReport = {
    file,
    ms: performance.now() - startMs,
    cpuMs: cpuMs() - startCpuMs,
    total: total - before.total,
    pass: pass - before.pass,
    fail: fail - before.fail,
    skip: skip - before.skip,
    todo: todo - before.todo,
    left,
  };
  process.send?.({ report });
}

function lend(test: Test): void {
  for (const name of LENT) {
    Object.defineProperty(t, name, {
      configurable: true,
      value: (test[name] as (...args: unknown[]) => unknown).bind(test),
    });
  }
}

/** The CPU time of this process and of the children that it has seen end. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000 + childrenCpuMs();
}

function childrenCpuMs(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // After the name in brackets; the times are in hundredths of a second.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[13]) + Number(fields[14])) * 10;
  } catch {
    // Linux alone has it.
    return 0;
  }
}
