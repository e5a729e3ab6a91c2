import t from 'tap';
import { checkClock } from '../../src/doctor/clock.ts';

t.test('clocks that differ', async (t) => {
  for (const [skewMs, level] of [
    [0, 'ok'],
    [-10_000, 'warning'],
    [10_000, 'warning'],
    [600_000, 'problem'],
  ] as const) {
    const found = await checkClock('PostgreSQL', async () => Date.now() + skewMs);
    t.equal(found.level, level, found.text);
  }
});
