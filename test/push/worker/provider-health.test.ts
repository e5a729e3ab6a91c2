import t from 'tap';
import type { Outcome } from '../../../src/domain/outcome.ts';
import {
  FAILURES_IN_A_ROW_MAX,
  LOST_FOR_MS,
  ProviderHealth,
  WORDLESS_FOR_MS,
  WORDLESS_REFUSALS,
} from '../../../src/push/worker/provider-health.ts';
import { ManualClock } from '../../support/scripted-sender.ts';

const UNAVAILABLE: Outcome = { kind: 'unavailable', reason: 'Shut', retryAfterMs: null };

function settle(health: ProviderHealth, outcome: Outcome): void {
  health.sent();
  health.settled(outcome);
}

t.test('one of several hosts that fails says nothing of the credential', (t) => {
  const health = new ProviderHealth(new ManualClock());
  for (let n = 0; n < 2 * FAILURES_IN_A_ROW_MAX; n += 1) {
    settle(health, { ...UNAVAILABLE, isOneHost: true });
  }
  t.equal(health.stoppedForMs, 0);
  t.end();
});

t.test(
  'the streams of one lost connection say nothing of the provider; seconds without an answer do',
  (t) => {
    const clock = new ManualClock();
    const health = new ProviderHealth(clock);
    const LOST: Outcome = { kind: 'unknown', reason: 'connection closed' };
    for (let stream = 0; stream < 1_000; stream += 1) settle(health, LOST);
    t.equal(health.stoppedForMs, 0);
    settle(health, { kind: 'delivered' });
    clock.pass(LOST_FOR_MS);
    for (let stream = 0; stream < 1_000; stream += 1) settle(health, LOST);
    t.equal(health.stoppedForMs, 0, 'what was lost before the last answer counts no more');
    clock.pass(LOST_FOR_MS);
    settle(health, LOST);
    t.ok(health.stoppedForMs > 0);
    t.end();
  },
);

t.test('a refusal without words is believed after several alike, a minute apart', (t) => {
  const clock = new ManualClock();
  const health = new ProviderHealth(clock);
  const page = (reason: string): Outcome => ({ ...UNAVAILABLE, reason, isWordless: true });
  for (let n = 0; n < 1_000; n += 1) settle(health, page('status 403'));
  t.equal(health.wordlessFault, null, 'one moment of a proxy');
  clock.pass(WORDLESS_FOR_MS);
  settle(health, page('status 403'));
  t.equal(health.wordlessFault, 'status 403');
  settle(health, { kind: 'delivered' });
  t.equal(health.wordlessFault, null, 'it works');

  for (let n = 1; n < WORDLESS_REFUSALS; n += 1) settle(health, page('status 404'));
  clock.pass(WORDLESS_FOR_MS);
  settle(health, page('status 403'));
  t.equal(health.wordlessFault, null, 'another one is not alike');
  clock.pass(WORDLESS_FOR_MS);
  settle(health, page('status 403'));
  t.equal(health.wordlessFault, null, 'too few');
  t.end();
});

t.test('a token that the provider was never asked about does not show that it works', (t) => {
  const health = new ProviderHealth(new ManualClock());
  for (let n = 0; n < FAILURES_IN_A_ROW_MAX; n += 1) {
    settle(health, { kind: 'bad-token', reason: 'BadDeviceToken', isUnasked: true });
    settle(health, UNAVAILABLE);
  }
  t.ok(health.stoppedForMs > 0, 'stopped');
  settle(health, { kind: 'bad-token', reason: 'BadDeviceToken', isUnasked: true });
  t.ok(health.stoppedForMs > 0, 'still');
  settle(health, { kind: 'bad-token', reason: 'BadDeviceToken' });
  t.equal(health.stoppedForMs, 0, "the provider's own word does");
  t.end();
});
