import t from 'tap';
import { deadlinesOf, isTooLate } from '../../../src/push/protocol/deadlines.ts';

const HOUR_MS = 3_600_000;
const DUE_MS = 1_700_000_000_000;

/**
 * The ttl in seconds and `expiresAt`, both from when it was due; the platform; and the deadlines,
 * in hours from then.
 */
const CASES: readonly (readonly [
  what: string,
  given: { readonly ttl?: number; readonly expiresIn?: number; readonly platformId?: number },
  expected: { readonly send: number; readonly retry: number; readonly expires: boolean },
])[] = [
  ['neither', {}, { send: 1, retry: 1, expires: false }],
  ['a short ttl', { ttl: 1_800 }, { send: 1, retry: 0.5, expires: true }],
  ['now or never', { ttl: 0 }, { send: 1, retry: 0, expires: true }],
  ['a long ttl is the provider\u2019s', { ttl: 7_200 }, { send: 1, retry: 1, expires: false }],
  ['expiresAt', { expiresIn: 5 }, { send: 5, retry: 5, expires: true }],
  ['both', { ttl: 1_800, expiresIn: 5 }, { send: 5, retry: 0.5, expires: true }],
  ['both, the ttl behind', { ttl: 36_000, expiresIn: 5 }, { send: 5, retry: 5, expires: true }],
  ['a browser', { platformId: 7 }, { send: 24, retry: 24, expires: false }],
  ['a browser, short', { platformId: 7, ttl: 1_800 }, { send: 1, retry: 0.5, expires: true }],
  ['a browser, 4 hours', { platformId: 7, ttl: 14_400 }, { send: 4, retry: 4, expires: true }],
  ['a browser, weeks', { platformId: 7, ttl: 2_419_200 }, { send: 24, retry: 24, expires: false }],
  ['a browser, expiresAt', { platformId: 7, expiresIn: 2 }, { send: 2, retry: 2, expires: true }],
];

for (const [what, { ttl, expiresIn, platformId = 3 }, expected] of CASES) {
  t.test(what, (t) => {
    const message = {
      notificationId: '019a0000-0000-7000-8000-000000000000',
      payload: { title: 'goal!', data: {}, ...(ttl === undefined ? {} : { ttlSeconds: ttl }) },
      dueAtMs: DUE_MS,
      expiresAtMs: expiresIn === undefined ? null : DUE_MS + expiresIn * HOUR_MS,
    };
    const deadlines = deadlinesOf(message, platformId);
    t.strictSame(deadlines, {
      sendUntilMs: DUE_MS + expected.send * HOUR_MS,
      retryUntilMs: DUE_MS + expected.retry * HOUR_MS,
      expires: expected.expires,
    });
    t.equal(isTooLate(deadlines, deadlines.retryUntilMs), expected.expires);
    t.equal(isTooLate(deadlines, deadlines.retryUntilMs - 1), false);
    t.end();
  });
}
