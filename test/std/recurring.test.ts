/** Runs follow each other, never overlap, and end with the stop. */

import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { Recurring } from '../../src/std/recurring.ts';
import { until } from '../support/poll.ts';

t.test('runs again and again, one at a time', async (t) => {
  let underWay = 0;
  let mostUnderWay = 0;
  let runs = 0;
  const recurring = new Recurring(1, async () => {
    underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    await sleep(5);
    underWay -= 1;
    runs += 1;
  });
  recurring.start();
  await until('three runs', () => (runs >= 3 ? true : null));
  await recurring.stop();
  t.equal(mostUnderWay, 1);
});

t.test('stop waits for the run under way, and no other follows', async (t) => {
  let begun = 0;
  let ended = 0;
  const recurring = new Recurring(1, async () => {
    begun += 1;
    await sleep(20);
    ended += 1;
  });
  recurring.start();
  await until('a run has begun', () => (begun > 0 ? true : null));
  await recurring.stop();
  t.equal(ended, begun);
  const before = begun;
  await sleep(20);
  t.equal(begun, before);
});

t.test('a stop before the first run is the end', async (t) => {
  const recurring = new Recurring(1, () => {
    t.fail('it ran');
    return Promise.resolve();
  });
  recurring.start();
  await recurring.stop();
  await sleep(10);
});
