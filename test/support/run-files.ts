/**
 * Runs test files, each in a process of its own and several beside each other, and writes what they
 * say as one TAP stream. It stands in for tap's own command, whose loader (for coverage and mocks,
 * of which we have none) goes into each test process, each of its threads and each engine that it
 * starts: two thirds of a second of CPU every time.
 *
 *     node dist/test/support/run-files.js <jobs> <seconds a file may take> <test files>
 */

import t from 'tap';
import { NODE_FLAGS } from './node-flags.ts';

const [jobs = '', timeoutSeconds = '', ...files] = process.argv.slice(2);

t.jobs = Number(jobs);
t.setTimeout(0);
t.plan(files.length);
const running = files.map((file) =>
  t.spawn(
    'env',
    // Without NODE_OPTIONS, through which `t.spawn` would put that loader in again.
    ['-u', 'NODE_OPTIONS', process.execPath, ...NODE_FLAGS, file],
    {
      at: null,
      stack: '',
      buffered: t.jobs > 1,
      timeout: Number(timeoutSeconds) * 1_000,
      env: { ...process.env, TAP_TIMEOUT: timeoutSeconds },
    },
    file,
  ),
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    for (const { subtest } of running) subtest?.proc?.kill(signal);
    t.bailout(signal);
  });
}
