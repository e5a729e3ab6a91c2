import t from 'tap';
import { retryAfterMs } from '../../src/std/retry-after.ts';

const NOW_MS = Date.parse('2026-11-21T00:00:00Z');

t.test('seconds and dates, and nothing else', (t) => {
  t.equal(retryAfterMs('120', NOW_MS), 120_000);
  t.equal(retryAfterMs(' 0 ', NOW_MS), 0);
  t.equal(retryAfterMs('Sat, 21 Nov 2026 00:00:30 GMT', NOW_MS), 30_000);
  t.equal(retryAfterMs('Fri, 20 Nov 2026 00:00:30 GMT', NOW_MS), 0, 'the past is now');
  t.equal(retryAfterMs('999999999', NOW_MS), 86_400_000, 'a day is enough');
  for (const field of [undefined, '', 'soon', '-']) {
    t.equal(retryAfterMs(field, NOW_MS), null);
  }
  t.end();
});
