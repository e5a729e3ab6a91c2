/**
 * The limit of streams as Apple plays it: one, many, one again after a rejection, and what it does
 * to those in flight.
 */

import type { Test } from 'tap';
import t from 'tap';
import type { BehaviourChange } from '../../../../packages/simulator/src/options.ts';

import { apnsToken, control, simulate } from '../peer.ts';
import { countEnds, dial } from '../witness.ts';

const BAD = 1;

/** A simulated APNs whose device number 1 is refused with this answer. */
async function simulateRefusal(
  t: Test,
  behaviour: BehaviourChange,
  script = { status: 400, reason: 'BadDeviceToken' },
) {
  const simulator = await simulate(t, behaviour);
  await control(simulator, `PUT /tokens/apns/${apnsToken(BAD)}`, script);
  const client = await dial(t, simulator);
  // It has all its streams when this is answered.
  t.match(await client.push(0), { status: 200 });
  return { simulator, ...client };
}

t.test('one stream until a valid token has come', async (t) => {
  const simulator = await simulate(t);
  const { push, witness } = await dial(t, simulator);
  const ends = await Promise.all(Array.from({ length: 30 }, (_, index) => push(index)));
  t.same(countEnds(ends), { 200: 30 });
  t.same(witness.streamLimits, [1, 1_000]);
  const refused = await dial(t, { ...simulator, accounts: (await simulate(t)).accounts });
  t.same(countEnds([await refused.push(1), await refused.push(2)]), { 403: 2 });
  t.same(refused.witness.streamLimits, [1], 'nor after one that is not');
});

t.test('after a rejection those in flight are refused, until a success', async (t) => {
  const { simulator, push, witness } = await simulateRefusal(t, { streamsFall: true });
  const pushes = [push(2), push(BAD), ...Array.from({ length: 30 }, (_, index) => push(3 + index))];
  const ends = await Promise.all(pushes);
  t.same(countEnds(ends), { 200: 1, 400: 1, unprocessed: 30 });
  t.same([...new Set(witness.resets)], ['REFUSED_STREAM']);
  t.same(witness.streamLimits, [1, 1_000, 1]);
  const { json } = await control<{ apns: object }>(simulator, 'GET /state');
  t.match(json.apns, { accepted: 2, lostAnswers: 0 }, 'nor are they recorded');
  const again = await Promise.all(Array.from({ length: 30 }, (_, index) => push(3 + index)));
  t.same(countEnds(again), { 200: 30 });
  t.same(witness.streamLimits, [1, 1_000, 1, 1_000]);
});

t.test(
  'a dead token, a device asked too often and errors of the provider are no rejection',
  async (t) => {
    for (const script of [
      { status: 410, reason: 'Unregistered' },
      { status: 429, reason: 'TooManyRequests' },
      { status: 503, reason: 'ServiceUnavailable' },
    ]) {
      const { push, witness } = await simulateRefusal(t, { streamsFall: true }, script);
      await Promise.all([push(BAD), push(2), push(3)]);
      t.same(witness.streamLimits, [1, 1_000]);
    }
  },
);

t.test('without the behaviour nothing falls', async (t) => {
  const { push, witness } = await simulateRefusal(t, {});
  t.same(countEnds(await Promise.all([push(BAD), push(2), push(3)])), { 200: 2, 400: 1 });
  t.same(witness.streamLimits, [1, 1_000]);
});

t.test('a number that was asked for is the limit from the start, and at once', async (t) => {
  const simulator = await simulate(t, { maxConcurrentStreams: 7 });
  const { push, witness } = await dial(t, simulator);
  t.match(await push(1), { status: 200 });
  t.same(witness.streamLimits, [7]);
  const unasked = await simulate(t);
  const other = await dial(t, unasked);
  await control(unasked, 'PUT /behaviour', { maxConcurrentStreams: 5 });
  t.match(await other.push(1), { status: 200 });
  t.same(other.witness.streamLimits, [1, 5], 'told before any token has come');
});
