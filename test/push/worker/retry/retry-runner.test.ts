import t from 'tap';
import type { Outcome } from '../../../../src/domain/outcome.ts';
import { DELIVERED } from '../../../../src/domain/outcome.ts';
import { runRetries } from '../../../../src/push/worker/retry/retry-runner.ts';
import { until } from '../../../support/poll.ts';
import {
  expiring,
  LEASE_MS,
  retryTask,
  ScriptedSender,
  sceneOf,
  settlementsOf,
} from '../../../support/scripted-sender.ts';

const byOrdinal = (settlements: ReturnType<typeof settlementsOf>) =>
  [...settlements].sort((a, b) => a.ordinal - b.ordinal);

t.test('who is gone or has unsubscribed is skipped; the others are sent and settled', async (t) => {
  const outcomes: Readonly<Record<string, Outcome>> = {
    'device-1': DELIVERED,
    'device-3': { kind: 'gone', reason: 'Unregistered', sinceMs: 77 },
    'device-4': { kind: 'unavailable', reason: 'InternalServerError', retryAfterMs: null },
  };
  const sender = new ScriptedSender((deviceId) => outcomes[deviceId] ?? DELIVERED);
  const task = retryTask([1, 2, 3, 4], { attempts: [1, 1, 1, 3] });
  const scene = sceneOf(task, { offsets: [1, 3, 4], sender });
  await runRetries(task, scene.context);
  t.strictSame(sender.sent, ['device-1', 'device-3', 'device-4']);
  t.match(byOrdinal(settlementsOf(scene.reports)), [
    { ordinal: 1, ending: 'delivered', isReached: true },
    { ordinal: 2, ending: 'skipped', isReached: false },
    { ordinal: 3, ending: 'failed', reason: 'Unregistered', isReached: false },
    { ordinal: 4, ending: null, attempts: 4, reason: 'InternalServerError', isReached: false },
  ]);
  t.strictSame(
    scene.reports.flatMap(({ observations }) => observations),
    [{ ordinal: 3, kind: 'gone', registeredBeforeMs: 77 }],
  );
  t.strictSame(
    scene.reports.flatMap(({ failures = [] }) => failures),
    [{ ordinal: 3, reason: 'Unregistered' }],
    'what failed for good is told by its device',
  );
});

t.test('the wait doubles with every try', async (t) => {
  const waits: number[] = [];
  for (const attempts of [1, 2, 3, 4]) {
    const sender = new ScriptedSender(() => ({ kind: 'unknown', reason: 'Timeout' }));
    const task = retryTask([1], { attempts: [attempts] });
    const scene = sceneOf(task, { offsets: [1], sender });
    await runRetries(task, scene.context);
    waits.push(settlementsOf(scene.reports)[0]?.dueInMs ?? 0);
  }
  for (const [index, wait] of waits.entries()) {
    const least = 1_000 * 2 ** (index + 1);
    t.ok(wait >= least && wait <= least * 1.5, `${wait} after ${index + 2} tries`);
  }
});

t.test(
  'past the deadline it ends as failed, or as expired when the notification expires',
  async (t) => {
    const sender = new ScriptedSender(() => ({ kind: 'unknown', reason: 'Timeout' }));
    const soon = 1_700_000_000_000 + 500;
    const late = retryTask([1], { retryUntilMs: soon });
    const failing = sceneOf(late, { offsets: [1], sender });
    await runRetries(late, failing.context);
    t.match(settlementsOf(failing.reports), [
      { ending: 'failed', reason: 'Timeout', isReached: true },
    ]);

    const ending = retryTask([1], expiring(soon));
    const expires = sceneOf(ending, { offsets: [1], sender });
    await runRetries(ending, expires.context);
    t.match(settlementsOf(expires.reports), [{ ending: 'expired' }]);

    const over = retryTask([1], expiring(1_700_000_000_000));
    const expired = sceneOf(over, { offsets: [1], sender });
    const sentBefore = sender.sent.length;
    await runRetries(over, expired.context);
    t.match(settlementsOf(expired.reports), [{ ending: 'expired' }]);
    t.equal(sender.sent.length, sentBefore, 'nothing is sent');
  },
);

t.test('past its ttl what was tried expires, and what was not may still be sent', async (t) => {
  const nowMs = 1_700_000_000_000;
  const deadlines = { sendUntilMs: nowMs + 60_000, retryUntilMs: nowMs, expires: true };
  const task = retryTask([1, 2, 3], { ...deadlines, attempts: [1, 0, 2] });
  const scene = sceneOf(task, { offsets: [1, 2, 3] });
  await runRetries(task, scene.context);
  t.strictSame(scene.sender.sent, ['device-2']);
  t.match(byOrdinal(settlementsOf(scene.reports)), [
    { ordinal: 1, ending: 'expired' },
    { ordinal: 2, ending: 'delivered' },
    { ordinal: 3, ending: 'expired' },
  ]);

  const stopped = retryTask([1, 2], { ...deadlines, retryUntilMs: nowMs + 1, attempts: [0, 1] });
  const waiting = sceneOf(stopped, { offsets: [1, 2] });
  waiting.breaker.stop('ServiceUnavailable', 10_000);
  await runRetries(stopped, waiting.context);
  t.match(byOrdinal(settlementsOf(waiting.reports)), [
    { ordinal: 1, ending: null, attempts: 0 },
    { ordinal: 2, ending: 'expired' },
  ]);
});

t.test('past its ttl a batch that waits for room ends what it may not try again', async (t) => {
  const nowMs = 1_700_000_000_000;
  const task = retryTask([1, 2, 3], {
    sendUntilMs: nowMs + 60_000,
    retryUntilMs: nowMs + 1_000,
    expires: true,
  });
  const sender = new ScriptedSender(() => null, 1);
  const scene = sceneOf(task, { offsets: [1, 2, 3], sender });
  const running = runRetries(task, scene.context);
  await until('one is under way', () => (sender.sent.length === 1 ? true : null));
  scene.clock.pass(2_000);
  scene.control.changed.fire();
  await until('the others have ended', () =>
    settlementsOf(scene.reports).length === 2 ? true : null,
  );
  sender.answer({ kind: 'unknown', reason: 'no answer in time' });
  await running;
  t.equal(sender.sent.length, 1);
  t.strictSame(
    settlementsOf(scene.reports).map(({ ending }) => ending),
    ['expired', 'expired', 'expired'],
  );
});

t.test('half a lease over: the unsent are due again as they were', async (t) => {
  const task = retryTask([1, 2, 3, 4]);
  const sender = new ScriptedSender(() => DELIVERED, 2);
  const scene = sceneOf(task, { offsets: [1, 2, 3, 4], sender });
  sender.script = (_deviceId, count) => {
    if (count === 2) scene.clock.pass(LEASE_MS / 2);
    return DELIVERED;
  };
  await runRetries(task, scene.context);
  t.equal(sender.sent.length, 2);
  t.match(byOrdinal(settlementsOf(scene.reports)), [
    { ordinal: 1, ending: 'delivered' },
    { ordinal: 2, ending: 'delivered' },
    { ordinal: 3, ending: null, attempts: 1, dueInMs: 0 },
    { ordinal: 4, ending: null, attempts: 1, dueInMs: 0 },
  ]);
});

t.test('a report does not prolong the lease of a batch', async (t) => {
  const ordinals = Array.from({ length: 600 }, (_, n) => n);
  const task = retryTask(ordinals);
  const sender = new ScriptedSender(() => DELIVERED, 50);
  const scene = sceneOf(task, { offsets: ordinals, sender, budgetMax: 100 });
  sender.script = () => {
    scene.clock.pass(LEASE_MS / 500);
    return DELIVERED;
  };
  await runRetries(task, scene.context);
  t.ok(scene.reports.length > 2);
  t.equal(sender.sent.length, 250);
  t.equal(settlementsOf(scene.reports).length, 600);
});

t.test('cancelled, and stopped by a fault', async (t) => {
  const cancelled = retryTask([1, 2], { isCancelled: true, authorized: null });
  const scene = sceneOf(cancelled, { offsets: [1, 2] });
  await runRetries(cancelled, scene.context);
  t.match(settlementsOf(scene.reports), [{ ending: 'cancelled' }, { ending: 'cancelled' }]);

  const faulty = retryTask([1, 2], { fault: 'Forbidden', authorized: null });
  const stopped = sceneOf(faulty, { offsets: [1, 2] });
  await runRetries(faulty, stopped.context);
  t.match(settlementsOf(stopped.reports), [
    { ending: 'failed', reason: 'Forbidden' },
    { ending: 'failed', reason: 'Forbidden' },
  ]);
});

t.test('at most once: what a lost process had is failed, not sent again', async (t) => {
  const wereLost = [true, false, true];
  const task = retryTask([1, 2, 3], { isAtMostOnce: true, wereLost });
  const scene = sceneOf(task, { offsets: [1, 2] });
  await runRetries(task, scene.context);
  t.strictSame(scene.sender.sent, ['device-2']);
  const reason = 'OutcomeUnknown: the process that sent it was lost';
  t.match(byOrdinal(settlementsOf(scene.reports)), [
    { ordinal: 1, ending: 'failed', reason },
    { ordinal: 2, ending: 'delivered' },
    { ordinal: 3, ending: 'failed', reason },
  ]);

  const atLeastOnce = retryTask([1, 2], { wereLost: [true, true] });
  const again = sceneOf(atLeastOnce, { offsets: [1, 2] });
  await runRetries(atLeastOnce, again.context);
  t.equal(again.sender.sent.length, 2);
});
