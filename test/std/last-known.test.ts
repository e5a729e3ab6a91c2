import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { LastKnown } from '../../src/std/last-known.ts';

t.test('a reader waits for nothing, and gets the answer before', async (t) => {
  let asked = 0;
  const known = new LastKnown({
    ask: async () => {
      asked += 1;
      await sleep(10);
      return asked;
    },
    ageMsMax: 60_000,
  });
  t.equal(known.read(), null);
  t.equal(known.read(), null);
  t.equal(asked, 1, 'one question at a time');
  await sleep(50);
  t.equal(known.read(), 1);
  await sleep(50);
  t.equal(known.read(), 2);
});

t.test('an answer that has become too old is none, and a failure makes none', async (t) => {
  let isAway = false;
  let passedMs = 0;
  const { now } = performance;
  t.intercept(performance, 'now', { value: () => now.call(performance) + passedMs });
  const known = new LastKnown({
    ask: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve('here')),
    ageMsMax: 60_000,
  });
  known.read();
  await sleep(1);
  isAway = true;
  t.equal(known.read(), 'here');
  await sleep(1);
  t.equal(known.read(), 'here', 'the failure takes nothing away');
  passedMs += 61_000;
  t.equal(known.read(), null);
  await sleep(1);
  isAway = false;
  known.read();
  await sleep(1);
  t.equal(known.read(), 'here');
});
