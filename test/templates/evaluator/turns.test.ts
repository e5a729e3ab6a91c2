/** Clients whose templates wait for each other's. */

import t from 'tap';
import {
  ENDLESS_RECURSION,
  HOSTILE,
  made,
  OTHER,
  openEvaluation,
} from '../../support/evaluation.ts';

const { evaluator, evaluate } = openEvaluation(t);

t.test('clients take turns: one that asks a lot waits for itself', async (t) => {
  const ended: number[] = [];
  const ask = (clientId: number) => evaluate(['1'], {}, clientId).then(() => ended.push(clientId));
  await Promise.all([...Array.from({ length: 40 }, () => ask(HOSTILE)), ask(OTHER)]);
  t.ok(ended.indexOf(OTHER) < 20, 'the one of the other client did not come last');
  t.equal(ended.length, 41);
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
