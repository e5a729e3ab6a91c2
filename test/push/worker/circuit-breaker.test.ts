import t from 'tap';
import type { Outcome } from '../../../src/domain/outcome.ts';
import {
  CircuitBreaker,
  FAILURES_IN_A_ROW_MAX,
  LOST_FOR_MS,
  REFUSALS_ALIKE,
  REFUSALS_ALIKE_FOR_MS,
} from '../../../src/push/worker/circuit-breaker.ts';
import { ManualClock } from '../../support/scripted-sender.ts';

const UNAVAILABLE: Outcome = { kind: 'unavailable', reason: 'Shut', retryAfterMs: null };

function settle(breaker: CircuitBreaker, outcome: Outcome): void {
  breaker.sent();
  breaker.settled(outcome);
}

t.test('one of several hosts that fails says nothing of the credential', (t) => {
  const breaker = new CircuitBreaker(new ManualClock());
  for (let n = 0; n < 2 * FAILURES_IN_A_ROW_MAX; n += 1) {
    settle(breaker, { ...UNAVAILABLE, isOneHost: true });
  }
  t.equal(breaker.stoppedForMs, 0);
  t.end();
});

t.test(
  'the streams of one lost connection say nothing of the provider; seconds without an answer do',
  (t) => {
    const clock = new ManualClock();
    const breaker = new CircuitBreaker(clock);
    const LOST: Outcome = { kind: 'unknown', reason: 'connection closed' };
    for (let stream = 0; stream < 1_000; stream += 1) settle(breaker, LOST);
    t.equal(breaker.stoppedForMs, 0);
    settle(breaker, { kind: 'delivered' });
    clock.pass(LOST_FOR_MS);
    for (let stream = 0; stream < 1_000; stream += 1) settle(breaker, LOST);
    t.equal(breaker.stoppedForMs, 0, 'what was lost before the last answer counts no more');
    clock.pass(LOST_FOR_MS);
    settle(breaker, LOST);
    t.ok(breaker.stoppedForMs > 0);
    t.end();
  },
);

t.test('a refusal without words is believed after several alike, a minute apart', (t) => {
  const clock = new ManualClock();
  const breaker = new CircuitBreaker(clock);
  const page = (reason: string): Outcome => ({ ...UNAVAILABLE, reason, isWordless: true });
  for (let n = 0; n < 1_000; n += 1) settle(breaker, page('status 403'));
  t.equal(breaker.provenFault, null, 'one moment of a proxy');
  clock.pass(REFUSALS_ALIKE_FOR_MS);
  settle(breaker, page('status 403'));
  t.equal(breaker.provenFault, 'status 403');
  settle(breaker, { kind: 'delivered' });
  t.equal(breaker.provenFault, null, 'it works');

  for (let n = 1; n < REFUSALS_ALIKE; n += 1) settle(breaker, page('status 404'));
  clock.pass(REFUSALS_ALIKE_FOR_MS);
  settle(breaker, page('status 403'));
  t.equal(breaker.provenFault, null, 'another one is not alike');
  clock.pass(REFUSALS_ALIKE_FOR_MS);
  settle(breaker, page('status 403'));
  t.equal(breaker.provenFault, null, 'too few');
  t.end();
});

t.test('a token that the provider was never asked about does not show that it works', (t) => {
  const breaker = new CircuitBreaker(new ManualClock());
  for (let n = 0; n < FAILURES_IN_A_ROW_MAX; n += 1) {
    settle(breaker, { kind: 'bad-token', reason: 'BadDeviceToken', isUnasked: true });
    settle(breaker, { kind: 'gone', reason: 'Removed', sinceMs: null, isUnasked: true });
    settle(breaker, UNAVAILABLE);
  }
  t.ok(breaker.stoppedForMs > 0, 'stopped');
  settle(breaker, { kind: 'bad-token', reason: 'BadDeviceToken', isUnasked: true });
  t.ok(breaker.stoppedForMs > 0, 'still');
  settle(breaker, { kind: 'bad-token', reason: 'BadDeviceToken' });
  t.equal(breaker.stoppedForMs, 0, "the provider's own word does");
  t.end();
});
