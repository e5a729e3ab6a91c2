/** Clients whose templates wait for each other's. */

import t from 'tap';
import {
  ENDLESS_RECURSION,
  HOSTILE,
  made,
  OTHER,
  openEvaluation,
} from '../../support/evaluation.ts';
import { PATIENT_LIMITS } from '../../support/evaluator.ts';

/** Uses up its time. */
const HOG = 4;
/** Has had nothing evaluated before. */
const NEWCOMER = 3;

const { evaluator, evaluate } = openEvaluation(t);

t.test('clients take turns: one that asks a lot waits for itself', async (t) => {
  // Both processes are there: one that starts a moment later would come last.
  await Promise.all([201, 202].map((clientId) => evaluate(['1'], {}, clientId)));
  // It uses one of the two for a second, so that the others have one between them.
  const hogged = evaluate([ENDLESS_RECURSION], {}, HOG);
  const ended: number[] = [];
  const ask = (clientId: number) => evaluate(['1'], {}, clientId).then(() => ended.push(clientId));
  await Promise.all([...Array.from({ length: 40 }, () => ask(HOSTILE)), ask(OTHER)]);
  t.ok(ended.indexOf(OTHER) < 20, `the one of the other client did not come last: ${ended}`);
  await hogged;
  t.equal(ended.length, 41);
});

t.test('one whose templates took no time comes before those that use up theirs', async (t) => {
  // Their turns are short, so that a busy machine gets round before anybody has waited too long.
  const { evaluator, evaluate } = openEvaluation(t, { ...PATIENT_LIMITS, processorMs: 100 });
  const hogs = [101, 102, 103, 104, 105, 106];
  for (const clientId of hogs) await evaluate([ENDLESS_RECURSION], {}, clientId);
  const ended: number[] = [];
  const ask = async (expression: string, clientId: number) => {
    const { kind } = await evaluator.evaluate(clientId, [expression], '{}');
    if (kind === 'evaluated') ended.push(clientId);
  };
  const asked = hogs.map((clientId) => ask(ENDLESS_RECURSION, clientId));
  await ask('1', NEWCOMER);
  t.ok(ended.includes(NEWCOMER), 'its turn comes in time');
  t.ok(ended.indexOf(NEWCOMER) <= 2, `behind the two under way at most: ${ended}`);
  await Promise.all(asked);
});

t.test('one whose turn does not come is told so, and so are too many', async (t) => {
  const asked = Array.from({ length: 1_100 }, () =>
    evaluator.evaluate(HOSTILE, [ENDLESS_RECURSION], '{}'),
  );
  const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
  t.ok(kinds.includes('evaluated'));
  t.ok(kinds.filter((kind) => kind === 'busy').length > 1_000);
});

t.test('after it was closed, it begins anew when it is asked', async (t) => {
  evaluator.close();
  t.strictSame(await evaluate(['1']), [made(1)]);
});
