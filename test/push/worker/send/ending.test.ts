import fc from 'fast-check';
import t from 'tap';
import type { Outcome } from '../../../../src/domain/outcome.ts';
import { providerOn } from '../../../../src/providers/providers.ts';
import type { SendContext } from '../../../../src/push/worker/send/ending.ts';
import { endingOf, faultIn } from '../../../../src/push/worker/send/ending.ts';
import { DEFAULT_ORIGINS } from '../../../support/default-origins.ts';

/** The policy without settings of an operator. */
const policyOn = (platformId: number) => providerOn(platformId).retryPolicy(DEFAULT_ORIGINS);

const CONTEXT: SendContext = {
  retryPolicy: policyOn(3),
  attempts: 1,
  nowMs: 0,
  retryUntilMs: Number.MAX_SAFE_INTEGER,
  expires: false,
  isAtMostOnce: false,
};

const UNAVAILABLE: Outcome = { kind: 'unavailable', reason: 'Down', retryAfterMs: null };
const UNKNOWN: Outcome = { kind: 'unknown', reason: 'no answer in time' };

/**
 * Each reaction that tries again: the least wait after the first and the second try. The most is
 * half above it.
 */
const WAITS: readonly (readonly [string, Outcome, Partial<SendContext>, number, number])[] = [
  ['Apple asks for 15 minutes', UNAVAILABLE, {}, 900_000, 1_800_000],
  ['FCM for 10 seconds', UNAVAILABLE, { retryPolicy: policyOn(15) }, 10_000, 20_000],
  ['a stranger for nothing', UNAVAILABLE, { retryPolicy: policyOn(7) }, 2_000, 4_000],
  ['a time that is named is kept', { ...UNAVAILABLE, retryAfterMs: 30_000 }, {}, 30_000, 30_000],
  ['no time at all is none', { ...UNAVAILABLE, retryAfterMs: 0 }, {}, 1_000, 2_000],
  ['a connection lost', UNKNOWN, {}, 1_000, 2_000],
  ['FCM after a time-out', UNKNOWN, { retryPolicy: policyOn(15) }, 10_000, 20_000],
  ['not looked at', { kind: 'refused', reason: 'REFUSED_STREAM' }, {}, 1_000, 2_000],
  [
    'a throttled device',
    { kind: 'throttled-device', reason: 'TooManyRequests', retryAfterMs: null },
    {},
    60_000,
    120_000,
  ],
  [
    'a throttled device is not hammered, whatever time is named',
    { kind: 'throttled-device', reason: 'TooManyRequests', retryAfterMs: 1_000 },
    {},
    1_000,
    2_000,
  ],
  [
    'a throttled project',
    { kind: 'throttled-target', reason: 'QUOTA_EXCEEDED', retryAfterMs: 60_000 },
    { retryPolicy: policyOn(15) },
    60_000,
    60_000,
  ],
  [
    'a credential being refreshed',
    { kind: 'expired-authorization', reason: 'ExpiredProviderToken' },
    {},
    1_000,
    2_000,
  ],
];

for (const [name, outcome, more, first, second] of WAITS) {
  t.test(`${name}: ${first} ms, then ${second}`, (t) => {
    for (const [attempts, leastMs] of [
      [1, first],
      [2, second],
    ] as const) {
      const ending = endingOf(outcome, { ...CONTEXT, ...more, attempts });
      if (ending.kind !== 'retry') throw new Error(ending.kind);
      t.ok(ending.dueInMs >= leastMs && ending.dueInMs <= leastMs * 1.5, `${ending.dueInMs}`);
      t.equal(ending.isUncertain, outcome.kind === 'unknown');
      t.equal(ending.attempts, attempts);
    }
    t.end();
  });
}

t.test('at most once: of an unknown end is an end', (t) => {
  t.same(endingOf(UNKNOWN, { ...CONTEXT, isAtMostOnce: true }), {
    kind: 'failed',
    reason: 'OutcomeUnknown: no answer in time',
    isUncertain: true,
  });
  const later = endingOf(UNAVAILABLE, { ...CONTEXT, isAtMostOnce: true });
  t.equal(later.kind, 'retry', 'what is known not to have been accepted is sent again');
  t.end();
});

t.test('no retry begins after the deadline', (t) => {
  const late = { ...CONTEXT, retryUntilMs: 900_000 };
  t.same(endingOf(UNAVAILABLE, late), { kind: 'failed', reason: 'Down' });
  t.same(endingOf(UNAVAILABLE, { ...late, expires: true }), { kind: 'expired', reason: null });
  const unknown = endingOf(UNKNOWN, { ...late, retryUntilMs: 0, expires: true });
  t.same(unknown, { kind: 'expired', reason: null, isUncertain: true }, 'it may have arrived');
  t.end();
});

t.test('what one answer proves for the whole scope', (t) => {
  t.equal(faultIn({ kind: 'bad-credential', reason: 'Forbidden' }), 'Forbidden');
  t.equal(faultIn({ kind: 'bad-message', reason: 'PayloadTooLarge' }), 'PayloadTooLarge');
  t.equal(faultIn({ kind: 'bad-message', reason: 'INVALID_ARGUMENT', mayBeDevice: true }), null);
  t.equal(faultIn({ kind: 'bad-token', reason: 'BadDeviceToken' }), null);
  t.end();
});

/** Every outcome that a sender can answer with. */
const anyOutcome: fc.Arbitrary<Outcome> = fc
  .record({
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 7_200_000 })),
    isOneHost: fc.boolean(),
    kind: fc.constantFrom(
      'delivered',
      'gone',
      'bad-token',
      'bad-message',
      'bad-credential',
      'expired-authorization',
      'throttled-device',
      'throttled-target',
      'unavailable',
      'refused',
      'unknown',
    ),
  })
  .map(({ kind, retryAfterMs, isOneHost }): Outcome => {
    const host = isOneHost ? { isOneHost } : {};
    const reason = 'SomeReason';
    switch (kind) {
      case 'delivered':
        return { kind, ...host };
      case 'gone':
        return { kind, reason, sinceMs: null, ...host };
      case 'throttled-device':
      case 'throttled-target':
      case 'unavailable':
        return { kind, reason, retryAfterMs, ...host };
      default:
        return { kind, reason, ...host };
    }
  });

const anyContext: fc.Arbitrary<SendContext> = fc.record({
  retryPolicy: fc
    .record({ platformId: fc.constantFrom(3, 7, 15), apnsRetryMs: fc.constantFrom(2_000, 900_000) })
    .map(({ platformId, apnsRetryMs }) =>
      providerOn(platformId).retryPolicy({ ...DEFAULT_ORIGINS, apnsRetryMs }),
    ),
  attempts: fc.integer({ min: 1, max: 40 }),
  nowMs: fc.constant(1_700_000_000_000),
  retryUntilMs: fc.integer({ min: -1_000, max: 4_000_000 }).map((ms) => 1_700_000_000_000 + ms),
  expires: fc.boolean(),
  isAtMostOnce: fc.boolean(),
});

/** A day: no wait is longer, whatever was named. */
const WAIT_MS_MAX = 86_400_000;

t.test('whatever is answered: the rules that the ledger and the publisher count on', (t) => {
  fc.assert(
    fc.property(anyOutcome, anyContext, (outcome, context) => {
      const ending = endingOf(outcome, context);
      const isUnknown = outcome.kind === 'unknown';
      t.equal(ending.kind === 'delivered', outcome.kind === 'delivered', 'accepted, or not');
      if (ending.kind === 'expired') t.ok(context.expires, 'only what has an end expires');
      if (ending.kind !== 'retry') return;
      const { dueInMs } = ending;
      t.ok(context.nowMs + dueInMs < context.retryUntilMs, 'no retry begins after its deadline');
      t.ok(dueInMs >= 1_000 && dueInMs <= WAIT_MS_MAX, `waits ${dueInMs} ms`);
      const named = 'retryAfterMs' in outcome ? (outcome.retryAfterMs ?? 0) : 0;
      t.ok(dueInMs >= named, 'never earlier than named');
      t.equal(ending.attempts, context.attempts);
      t.notOk(isUnknown && context.isAtMostOnce, 'at most once: nothing uncertain is sent again');
      t.equal(ending.isUncertain, isUnknown);
      t.notOk(isUnknown && ending.mayCountAsUnsent, 'what may have arrived was sent');
      t.notOk(outcome.isOneHost && ending.mayCountAsUnsent, 'one host is not the provider');
      t.equal(faultIn(outcome), null, 'what proves a fault is not tried again');
    }),
    { numRuns: 500 },
  );
  t.end();
});
