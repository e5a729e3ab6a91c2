/** The process of an evaluation: it is one for many, another one when it has ended, and leaves. */

import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import t from 'tap';
import { READY } from '../../src/templates/evaluation.ts';
import { EvaluationProcess } from '../../src/templates/evaluation-process.ts';
import type { Evaluated } from '../../src/templates/sandbox.ts';
import { PATIENT_LIMITS } from '../support/evaluator.ts';
import { until } from '../support/poll.ts';

const ENDLESS = '($f := function($x) { $f($x) }; $f(1))';
const task = (...expressions: readonly string[]) => ({
  expressions,
  input: '{}',
  limits: PATIENT_LIMITS,
});
const ONE = { kind: 'answered', evaluated: [{ kind: 'made', json: '1' }] };

/** The processes that this one has started. */
const children = (): readonly number[] =>
  readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8')
    .split(' ')
    .filter((pid) => pid !== '')
    .map(Number);

t.test('one process does it all, until it has ended; then another one does', async (t) => {
  const evaluation = new EvaluationProcess();
  t.teardown(() => evaluation.close());
  t.match(await evaluation.run(task('1')), ONE);
  const first = children();
  t.equal(first.length, 1);
  t.match(await evaluation.run(task('1')), ONE);
  t.strictSame(children(), first);
  // A system without memory left does this.
  process.kill(first[0] ?? 0, 'SIGKILL');
  await until('it has gone', () => Promise.resolve(children().length === 0 ? true : null));
  t.match(await evaluation.run(task('1')), ONE, 'nobody is told that the template did it');
  const second = children();
  t.not(second[0], first[0]);
  t.match(await evaluation.run(task('"fine"', '[1..1e7]', '1')), {
    evaluated: [{ kind: 'made' }, { kind: 'failed', fault: { why: /more than 64 MiB/ } }],
  });
  t.match(await evaluation.run(task('1')), ONE);
  evaluation.close();
  await until('it has gone', () => Promise.resolve(children().length === 0 ? true : null));
});

t.test('it has no environment and no arguments of the engine', async (t) => {
  const evaluation = new EvaluationProcess();
  t.teardown(() => evaluation.close());
  await evaluation.run(task('1'));
  t.equal(readFileSync(`/proc/${children()[0]}/environ`, 'utf8').includes('PATH='), false);
});

/** It evaluates, without the engine. */
async function started(t: Test): Promise<ChildProcess> {
  const entry = new URL('../../src/templates/evaluation-entry.js', import.meta.url);
  const child: ChildProcess = fork(fileURLToPath(entry), { execArgv: [] });
  t.teardown(() => child.kill('SIGKILL'));
  t.strictSame(await once(child, 'message'), [READY, undefined]);
  return child;
}

t.test('it counts the time of its processor, not that in which it has none', async (t) => {
  const child = await started(t);
  const kinds: string[] = [];
  child.on('message', ({ kind }: Evaluated) => kinds.push(kind));
  const answers = (count: number) =>
    until('it has answered', () => Promise.resolve(kinds.length >= count ? true : null));
  child.send(task('1', '$count([1..20000].($ * 2))'));
  await answers(1);
  child.kill('SIGSTOP');
  await sleep(PATIENT_LIMITS.processorMs + 100);
  child.kill('SIGCONT');
  await answers(2);
  child.send(task(ENDLESS, '1'));
  await answers(3);
  // The terminal in which the engine runs does this.
  child.kill('SIGINT');
  child.send(task('1'));
  await answers(4);
  t.strictSame(kinds, ['made', 'made', 'too-long', 'made']);
});

t.test('one that was killed from outside says nothing of the template', async (t) => {
  const evaluation = new EvaluationProcess();
  t.teardown(() => evaluation.close());
  t.match(await evaluation.run(task('1')), ONE);
  const asked = evaluation.run(task(ENDLESS));
  process.kill(children()[0] ?? 0, 'SIGKILL');
  t.strictSame(await asked, { kind: 'answered', evaluated: [{ kind: 'held-up' }] });
});

t.test('it ends when the engine is gone, whatever it does', async (t) => {
  const child = await started(t);
  await new Promise((resolve) => child.send(task(ENDLESS), resolve));
  const ended = once(child, 'exit');
  child.disconnect();
  t.strictSame(await ended, [0, null]);
});
