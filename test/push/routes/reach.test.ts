import t from 'tap';
import { reachOf } from '../../../src/push/routes/reach.ts';

const DAY_MS = 86_400_000;
const row = (reached: number | null, isReachWhole = true) => ({ reached, isReachWhole });

t.test('devices, and until when it is kept', (t) => {
  t.same(reachOf([row(2), row(3), row(null)], 1_000, 7), { devices: 5, until: 1_000 + 7 * DAY_MS });
  t.same(reachOf([row(0)], null, 7), { devices: 0, until: null }, 'while it runs');
  t.equal(reachOf([row(null)], 1_000, 7), null, 'none is kept');
  t.end();
});

t.test('a part that an older node has recorded is missing', (t) => {
  const reach = reachOf([row(2), row(3, false)], null, 7);
  t.same(reach, { devices: 5, until: null, incomplete: true });
  t.end();
});
