import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { TurnClock } from '../../src/std/turn-clock.ts';

t.test('one time for a whole turn, never ahead, and a new one in the next', async (t) => {
  const clock = new TurnClock();
  const before = performance.now();
  const first = clock.nowMs();
  t.ok(first >= before);
  while (performance.now() - first < 2);
  t.equal(clock.nowMs(), first, 'behind by as long as the turn lasts');
  await nextTurn();
  const next = clock.nowMs();
  t.ok(next > first);
  t.ok(next <= performance.now());
});
