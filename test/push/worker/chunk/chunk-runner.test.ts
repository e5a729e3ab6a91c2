import t from 'tap';
import type { Outcome } from '../../../../src/domain/outcome.ts';
import { DELIVERED } from '../../../../src/domain/outcome.ts';
import type { ChunkProgress } from '../../../../src/domain/progress.ts';
import { runChunk } from '../../../../src/push/worker/chunk/chunk-runner.ts';
import {
  CircuitBreaker,
  FAILURES_IN_A_ROW_MAX,
  PROBES_MAX,
  REFUSALS_ALIKE,
  REFUSALS_ALIKE_FOR_MS,
} from '../../../../src/push/worker/circuit-breaker.ts';
import { Lease } from '../../../../src/push/worker/lease.ts';
import { until } from '../../../support/poll.ts';
import {
  chunkTask,
  expiring,
  LEASE_MS,
  ManualClock,
  recorded,
  ScriptedSender,
  sceneOf,
  sumOf,
} from '../../../support/scripted-sender.ts';

const first = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

const UNAVAILABLE: Outcome = {
  kind: 'unavailable',
  reason: 'ServiceUnavailable',
  retryAfterMs: null,
};
const REFUSED = { kind: 'bad-credential', reason: 'InvalidProviderToken' } as const;
const BAD_MESSAGE = { kind: 'bad-message', reason: 'BadPriority' } as const;
const UNKNOWN: Outcome = { kind: 'unknown', reason: 'Timeout' };
const THROTTLED: Outcome = {
  kind: 'throttled-device',
  reason: 'TooManyRequests',
  retryAfterMs: 5_000,
};

t.test('sends every device once, in order, and completes all 64 blocks', async (t) => {
  const offsets = [0, 5, 127, 128, 4_000, 8_191];
  const scene = sceneOf(chunkTask(), { offsets });
  await runChunk(chunkTask(), scene.context);
  t.strictSame(
    scene.sender.sent,
    offsets.map((offset) => `device-${offset}`),
  );
  t.match(sumOf(scene.reports), { total: 6, delivered: 6, isComplete: true, retries: [] });
});

t.test('a chunk without devices is complete at once', async (t) => {
  const scene = sceneOf(chunkTask(), { offsets: [] });
  await runChunk(chunkTask(), scene.context);
  t.match(sumOf(scene.reports), { total: 0, isComplete: true });
});

t.test('blocks that are done are neither sent nor counted again', async (t) => {
  const task = chunkTask({ doneBlocks: -1n ^ 0b100n });
  const scene = sceneOf(task, { offsets: first(1_000) });
  await runChunk(task, scene.context);
  t.equal(scene.sender.sent.length, 128);
  t.equal(scene.sender.sent[0], 'device-256');
  t.match(sumOf(scene.reports), { total: 128, delivered: 128, blocks: 0b100n });
});

t.test('final refusals are counted with their reasons; dead tokens are named', async (t) => {
  const script = (deviceId: string): Outcome => {
    if (deviceId === 'device-1') return { kind: 'gone', reason: 'Unregistered', sinceMs: 123 };
    if (deviceId === 'device-2') return { kind: 'gone', reason: 'UNREGISTERED', sinceMs: null };
    if (deviceId === 'device-3') return { kind: 'bad-token', reason: 'BadDeviceToken' };
    return DELIVERED;
  };
  const task = chunkTask();
  const scene = sceneOf(task, { offsets: first(10), sender: new ScriptedSender(script) });
  await runChunk(task, scene.context);
  t.match(sumOf(scene.reports), {
    total: 10,
    delivered: 7,
    failed: 3,
    reasons: { Unregistered: 1, UNREGISTERED: 1, BadDeviceToken: 1 },
    observations: [
      { ordinal: 1, kind: 'gone', registeredBeforeMs: 123 },
      { ordinal: 2, kind: 'gone', registeredBeforeMs: task.claimedAtMs },
      { ordinal: 3, kind: 'refused', registeredBeforeMs: task.claimedAtMs },
    ],
    isComplete: true,
  });
  t.strictSame(
    scene.reports.flatMap(({ failures = [] }) => failures),
    [
      { ordinal: 1, reason: 'Unregistered' },
      { ordinal: 2, reason: 'UNREGISTERED' },
      { ordinal: 3, reason: 'BadDeviceToken' },
    ],
  );
});

t.test('what may succeed later becomes a retry, and its block is done', async (t) => {
  const script = (deviceId: string): Outcome => (deviceId === 'device-7' ? THROTTLED : DELIVERED);
  const scene = sceneOf(chunkTask(), { offsets: first(200), sender: new ScriptedSender(script) });
  await runChunk(chunkTask(), scene.context);
  const sum = sumOf(scene.reports);
  t.match(sum, { total: 200, delivered: 199, isComplete: true });
  t.match(sum.retries, [{ ordinal: 7, attempts: 1, reason: 'TooManyRequests' }]);
  t.ok((sum.retries[0]?.dueInMs ?? 0) >= 5_000, 'not before the time that was named');
});

t.test('a provider that fails for a few devices only costs retries', async (t) => {
  const sender = new ScriptedSender(() => UNAVAILABLE);
  const scene = sceneOf(chunkTask(), { offsets: first(20), sender });
  await runChunk(chunkTask(), scene.context);
  const sum = sumOf(scene.reports);
  t.match(sum, { total: 20, isComplete: true });
  t.equal(sum.retries.length, 20);
});

t.test(
  'a provider that fails for everyone stops the chunk: given back, nothing counted',
  async (t) => {
    const sender = new ScriptedSender(() => UNAVAILABLE);
    const scene = sceneOf(chunkTask(), { offsets: first(8_192), sender });
    await runChunk(chunkTask(), scene.context);
    t.ok(sender.sent.length < FAILURES_IN_A_ROW_MAX + 200, `${sender.sent.length} sent`);
    const sum = sumOf(scene.reports);
    t.match(sum, { total: 0, retries: [], blocks: 0n });
    t.ok((sum.releaseAfterMs ?? 0) >= 1_000, 'it waits');
    t.ok(scene.breaker.stoppedForMs > 0);

    const beside = sceneOf(chunkTask(), { offsets: first(10), sender });
    const sentBefore = sender.sent.length;
    await runChunk(chunkTask(), { ...beside.context, breaker: scene.breaker });
    t.equal(sender.sent.length, sentBefore, 'the next chunk of this credential sends nothing');
    t.ok((sumOf(beside.reports).releaseAfterMs ?? 0) > 0);
  },
);

t.test(
  'failing after a success: done blocks stay done, half sent ones become retries',
  async (t) => {
    const script = (_deviceId: string, count: number): Outcome =>
      count <= 200 ? DELIVERED : UNAVAILABLE;
    const scene = sceneOf(chunkTask(), {
      offsets: first(8_192),
      sender: new ScriptedSender(script, 50),
    });
    await runChunk(chunkTask(), scene.context);
    const sum = sumOf(scene.reports);
    t.match(sum, { total: 256, delivered: 200, blocks: 0b11n });
    t.equal(sum.retries.length, 56);
    t.not(sum.releaseAfterMs, null);
  },
);

t.test('after the wait a few sends probe; a success sets it free', async (t) => {
  const sender = new ScriptedSender(() => UNAVAILABLE);
  const scene = sceneOf(chunkTask(), { offsets: first(8_192), sender });
  await runChunk(chunkTask(), scene.context);
  scene.clock.pass(60_000);
  const sentBefore = sender.sent.length;
  sender.script = () => null;
  const probing = sceneOf(chunkTask(), { offsets: first(500), sender });
  const done = runChunk(chunkTask(), {
    ...probing.context,
    clock: scene.clock,
    breaker: scene.breaker,
    lease: probing.context.lease,
  });
  await until('probes are under way', () => (sender.sent.length - sentBefore >= 8 ? true : null));
  t.equal(sender.sent.length - sentBefore, 8);
  sender.script = () => DELIVERED;
  sender.answer(DELIVERED);
  await done;
  t.match(sumOf(probing.reports), { total: 500, delivered: 500 });
});

t.test('past the deadline a failing provider ends it: failed with the last reason', async (t) => {
  const sender = new ScriptedSender(() => UNAVAILABLE);
  const soon = 1_700_000_000_000 + 1;
  const task = chunkTask({ sendUntilMs: soon, retryUntilMs: soon });
  const scene = sceneOf(task, { offsets: first(2_000), sender });
  await runChunk(task, scene.context);
  t.match(sumOf(scene.reports), {
    total: 2_000,
    failed: 2_000,
    reasons: { ServiceUnavailable: 2_000 },
    isComplete: true,
  });
});

t.test(
  'of a group that is not known to its end, what is known is sent, and the rest given back',
  async (t) => {
    for (const outcome of [DELIVERED, UNAVAILABLE] as const) {
      const sender = new ScriptedSender((_deviceId, count) => (count === 9 ? DELIVERED : outcome));
      const scene = sceneOf(chunkTask(), { offsets: first(200), endOffset: 256, sender });
      await runChunk(chunkTask(), scene.context);
      t.equal(sender.sent.length, 200);
      t.match(sumOf(scene.reports), { total: 200, blocks: 0b11n, releaseAfterMs: 0 });
    }
    const cancelled = chunkTask({ isCancelled: true, authorized: null });
    const scene = sceneOf(cancelled, { offsets: first(200), endOffset: 256 });
    await runChunk(cancelled, scene.context);
    t.match(sumOf(scene.reports), { cancelled: 200, blocks: 0b11n, releaseAfterMs: 0 });

    // At most once: of what it does not know it forgets nothing.
    const started = chunkTask({ isAtMostOnce: true, startedBlocks: 0b1_0001n });
    const doubted = sceneOf(started, { offsets: first(200), endOffset: 256 });
    await runChunk(started, doubted.context);
    t.match(doubted.reports.at(-1), { started: 0b1_0000n, releaseAfterMs: 0 });
  },
);

t.test('past its ttl each device is sent to once', async (t) => {
  const nowMs = 1_700_000_000_000;
  const task = chunkTask({ sendUntilMs: nowMs + 3_600_000, retryUntilMs: nowMs, expires: true });
  for (const outcome of [UNAVAILABLE, { kind: 'unknown', reason: 'no answer in time' }] as const) {
    const sender = new ScriptedSender((_deviceId, count) => (count === 100 ? DELIVERED : outcome));
    const scene = sceneOf(task, { offsets: first(200), sender });
    await runChunk(task, scene.context);
    t.equal(sender.sent.length, 200);
    t.match(sumOf(scene.reports), {
      total: 200,
      delivered: 1,
      expired: 199,
      retries: { length: 0 },
      isComplete: true,
    });
  }
});

t.test('no answer is newer than now, whatever time it names', async (t) => {
  const sender = new ScriptedSender(() => ({ kind: 'gone', reason: 'Dead', sinceMs: 1e300 }));
  const scene = sceneOf(chunkTask(), { offsets: [1], sender });
  await runChunk(chunkTask(), scene.context);
  t.match(sumOf(scene.reports).observations, [
    { kind: 'gone', registeredBeforeMs: scene.clock.nowMs() },
  ]);
});

t.test('expired: what was not sent in time is counted without being sent', async (t) => {
  const task = chunkTask(expiring(1_700_000_000_000 + 1_000));
  const sender = new ScriptedSender();
  const scene = sceneOf(task, { offsets: first(1_000), sender });
  sender.script = (_deviceId, count) => {
    if (count === 300) scene.clock.pass(2_000);
    return DELIVERED;
  };
  await runChunk(task, scene.context);
  t.equal(sender.sent.length, 300);
  t.match(sumOf(scene.reports), { total: 1_000, delivered: 300, expired: 700, isComplete: true });
});

t.test(
  'a refused credential that another one replaces stops nothing: the rest is given back',
  async (t) => {
    const script = (): Outcome => REFUSED;
    const sender = new ScriptedSender(script, 5);
    const known = chunkTask();
    if (known.authorized === null) throw new Error('it has one');
    const task = chunkTask({ authorized: { ...known.authorized, hasFallback: true } });
    const scene = sceneOf(task, { offsets: first(1_000), sender });
    await runChunk(task, scene.context);
    t.ok(sender.sent.length < 30, `${sender.sent.length} sent`);
    t.equal(scene.refusals[0], 'InvalidProviderToken');
    const sum = sumOf(scene.reports);
    t.match(sum, { delivered: 0, failed: 0, total: 0, fault: null, releaseAfterMs: 0 });
  },
);

t.test('a fault of the credential or message stops the scope', async (t) => {
  for (const outcome of [REFUSED, BAD_MESSAGE]) {
    const sender = new ScriptedSender(() => outcome, 5);
    const scene = sceneOf(chunkTask(), { offsets: first(1_000), sender });
    await runChunk(chunkTask(), scene.context);
    t.ok(sender.sent.length < 30, `${sender.sent.length} sent`);
    t.match(sumOf(scene.reports), {
      total: 1_000,
      delivered: 0,
      failed: 1_000,
      reasons: { [outcome.reason]: 1_000 },
      fault: outcome.reason,
      isComplete: true,
    });
  }
});

t.test('one odd refusal of a credential that works ends its device alone', async (t) => {
  const script = (_deviceId: string, count: number): Outcome => (count === 6 ? REFUSED : DELIVERED);
  const sender = new ScriptedSender(script, 1);
  const scene = sceneOf(chunkTask(), { offsets: first(60), sender });
  await runChunk(chunkTask(), scene.context);
  const sum = sumOf(scene.reports);
  t.match(sum, { delivered: 5, failed: 1, reasons: { InvalidProviderToken: 1 }, fault: null });
  t.equal(sum.retries.length, 54, 'the others wait for the probes');
  t.ok(scene.breaker.isOpen);
  t.ok(scene.breaker.stoppedForMs >= 2_000);
});

t.test('what is accepted beside an odd refusal closes the circuit at once', async (t) => {
  const script = (_deviceId: string, count: number): Outcome => (count === 6 ? REFUSED : DELIVERED);
  const scene = sceneOf(chunkTask(), { offsets: first(1_000), sender: new ScriptedSender(script) });
  await runChunk(chunkTask(), scene.context);
  t.match(sumOf(scene.reports), { delivered: 999, failed: 1, fault: null, isComplete: true });
  t.notOk(scene.breaker.isOpen);
});

t.test('a credential that was accepted elsewhere is doubted as well', async (t) => {
  const known = chunkTask();
  if (known.authorized === null) throw new Error('it has one');
  const accepted = { ...known.authorized, wasAcceptedLately: true, hasFallback: true } as const;
  for (const task of [chunkTask({ hasDelivered: true }), chunkTask({ authorized: accepted })]) {
    const sender = new ScriptedSender(() => REFUSED, 1);
    const scene = sceneOf(task, { offsets: first(60), sender });
    await runChunk(task, scene.context);
    t.match(sumOf(scene.reports), { failed: 1, fault: null });
    t.equal(sender.sent.length, 1);
    t.strictSame(scene.refusals, [], 'the credential before it does not take over');
  }
});

t.test('refusals alike for a minute, nothing accepted between: a fault', async (t) => {
  const task = chunkTask({ hasDelivered: true });
  const sender = new ScriptedSender(() => REFUSED);
  const scene = sceneOf(task, { offsets: first(1_000), sender });
  await runChunk(task, scene.context);
  t.match(sumOf(scene.reports), { failed: 1, fault: null });
  for (let probes = 0; probes < 2; probes += 1) {
    scene.clock.pass(REFUSALS_ALIKE_FOR_MS);
    const probing = sceneOf(task, { offsets: first(1_000), sender });
    const lease = new Lease(scene.clock, scene.clock.monotonicMs(), LEASE_MS, () => true);
    const { clock, breaker } = scene;
    await runChunk(task, { ...probing.context, clock, breaker, lease });
    t.match(sumOf(probing.reports), { failed: 1_000, fault: 'InvalidProviderToken' });
  }
});

t.test('while the circuit is open, who is refused is tried again', async (t) => {
  const task = chunkTask({ hasDelivered: true });
  const sender = new ScriptedSender(() => REFUSED);
  const scene = sceneOf(task, { offsets: first(1_000), sender });
  scene.breaker.stop('InvalidProviderToken', 0);
  scene.clock.pass(10_000);
  await runChunk(task, scene.context);
  t.equal(sender.sent.length, PROBES_MAX);
  t.match(sumOf(scene.reports), { total: 0, failed: 0, fault: null });
  t.ok(scene.breaker.stoppedForMs > 0);
});

t.test('a message that a device has got is not wrong for all of them', async (t) => {
  const script = (_deviceId: string, count: number): Outcome =>
    count === 6 ? BAD_MESSAGE : DELIVERED;
  const sender = new ScriptedSender(script, 1);
  const scene = sceneOf(chunkTask(), { offsets: first(60), sender });
  await runChunk(chunkTask(), scene.context);
  t.match(sumOf(scene.reports), { delivered: 59, failed: 1, fault: null, isComplete: true });
});

t.test('what one of several hosts says stops nobody else', async (t) => {
  const isOneHost = true;
  const script = (_deviceId: string, count: number): Outcome => {
    if (count % 4 === 0) return DELIVERED;
    if (count % 4 === 1) return { kind: 'bad-credential', reason: 'BadJwtToken', isOneHost };
    if (count % 4 === 2) return { kind: 'bad-message', reason: 'BadTtl', isOneHost };
    return { ...UNAVAILABLE, isOneHost };
  };
  const sender = new ScriptedSender(script);
  const scene = sceneOf(chunkTask(), { offsets: first(4_000), sender });
  await runChunk(chunkTask(), scene.context);
  const sum = sumOf(scene.reports);
  t.match(sum, { total: 4_000, delivered: 1_000, failed: 2_000, fault: null, isComplete: true });
  t.equal(sum.retries.length, 1_000);
  t.equal(sender.sent.length, 4_000);
});

t.test('a fault that came with the task, and one that others found, do the same', async (t) => {
  const known = chunkTask({ fault: 'MissingCredential', authorized: null });
  const scene = sceneOf(known, { offsets: first(300) });
  await runChunk(known, scene.context);
  t.match(sumOf(scene.reports), { total: 300, failed: 300, fault: 'MissingCredential' });
  t.equal(scene.sender.sent.length, 0);

  const other = sceneOf(chunkTask(), {
    offsets: first(8_192),
    sender: new ScriptedSender(() => DELIVERED, 10),
    budgetMax: 256,
    reply: (_progress, clock) => ({ ...recorded(clock), fault: 'Forbidden' }) as const,
  });
  await runChunk(chunkTask(), other.context);
  const sum = sumOf(other.reports);
  t.ok(sum.delivered < 2_000 && sum.total === 8_192, JSON.stringify(sum.delivered));
  t.equal(sum.delivered + sum.failed, 8_192);
});

t.test('cancelled: the rest is counted, not sent', async (t) => {
  const task = chunkTask({ isCancelled: true, authorized: null });
  const scene = sceneOf(task, { offsets: first(300) });
  await runChunk(task, scene.context);
  t.match(sumOf(scene.reports), { total: 300, cancelled: 300, isComplete: true });
});

t.test('an expired authorization is asked for again, and its sends are tried again', async (t) => {
  const script = (_deviceId: string, count: number): Outcome =>
    count <= 3 ? { kind: 'expired-authorization', reason: 'ExpiredProviderToken' } : DELIVERED;
  const scene = sceneOf(chunkTask(), { offsets: first(300), sender: new ScriptedSender(script) });
  await runChunk(chunkTask(), scene.context);
  t.ok(scene.renewalsAsked.count > 0);
  const sum = sumOf(scene.reports);
  t.match(sum, { total: 300, delivered: 297, isComplete: true });
  t.equal(sum.retries.length, 3);
});

t.test('a refusal of an authorization from the future is no fault of the credential', async (t) => {
  const sender = new ScriptedSender((_deviceId, count) => (count <= 3 ? REFUSED : DELIVERED));
  const scene = sceneOf(chunkTask(), { offsets: first(300), sender });
  scene.ahead.is = true;
  await runChunk(chunkTask(), scene.context);
  t.ok(scene.renewalsAsked.count > 0);
  const sum = sumOf(scene.reports);
  t.match(sum, { total: 300, delivered: 297, fault: null, isComplete: true });
  t.equal(sum.retries.length, 3);
});

t.test('half a lease without a word from the ledger: nothing more is sent', async (t) => {
  const sender = new ScriptedSender(() => null, 200);
  const scene = sceneOf(chunkTask(), { offsets: first(8_192), sender });
  const done = runChunk(chunkTask(), scene.context);
  await until('200 are under way', () => (sender.sent.length === 200 ? true : null));
  // A process that was stopped for so long wakes.
  scene.clock.pass(LEASE_MS / 2);
  sender.script = () => DELIVERED;
  sender.answer(DELIVERED);
  await done;
  t.equal(sender.sent.length, 200);
  const sum = sumOf(scene.reports);
  t.match(sum, { total: 256, delivered: 200, blocks: 0b11n, releaseAfterMs: 0 });
  t.match(sum.retries[0], { ordinal: 200, attempts: 0, reason: 'NotSent', dueInMs: 0 });
  t.equal(sum.retries.length, 56);
});

t.test(
  'the lease counts from when the renewing report was sent, not from its answer',
  async (t) => {
    const sender = new ScriptedSender(() => DELIVERED, 64);
    let slow = true;
    const scene = sceneOf(chunkTask(), {
      offsets: first(8_192),
      sender,
      budgetMax: 256,
      reply: (_progress, clock) => {
        const reply = recorded(clock);
        if (slow) scene.clock.pass(LEASE_MS / 2);
        slow = false;
        return reply;
      },
    });
    await runChunk(chunkTask(), scene.context);
    t.ok(sender.sent.length <= 512, `${sender.sent.length} sent`);
    t.equal(sumOf(scene.reports).releaseAfterMs, 0);
  },
);

t.test('lost to another: nothing more is sent, nothing more is reported', async (t) => {
  const sender = new ScriptedSender(() => DELIVERED, 64);
  const scene = sceneOf(chunkTask(), {
    offsets: first(8_192),
    sender,
    budgetMax: 256,
    reply: () => ({ kind: 'lost' }),
  });
  await runChunk(chunkTask(), scene.context);
  t.ok(sender.sent.length <= 320, `${sender.sent.length} sent`);
  t.equal(scene.reports.length, 1);
});

t.test('asked to give back: it ends its block first, and loses nothing', async (t) => {
  const sender = new ScriptedSender(() => DELIVERED, 10);
  const scene = sceneOf(chunkTask(), { offsets: first(8_192), sender });
  sender.script = (_deviceId, count) => {
    if (count === 150) scene.control.giveBack(scene.clock.monotonicMs() + 2_000, null);
    return DELIVERED;
  };
  await runChunk(chunkTask(), scene.context);
  t.equal(sender.sent.length, 256);
  t.match(sumOf(scene.reports), { total: 256, delivered: 256, retries: [], releaseAfterMs: 0 });
});

t.test(
  'asked to give back and out of time: the unsent rest of the block becomes retries',
  async (t) => {
    const sender = new ScriptedSender(() => DELIVERED, 10);
    const scene = sceneOf(chunkTask(), { offsets: first(8_192), sender });
    sender.script = (_deviceId, count) => {
      if (count === 150) scene.control.giveBack(scene.clock.monotonicMs(), null);
      return DELIVERED;
    };
    await runChunk(chunkTask(), scene.context);
    t.equal(sender.sent.length, 150);
    const sum = sumOf(scene.reports);
    t.match(sum, { total: 256, delivered: 150, releaseAfterMs: 0 });
    t.equal(sum.retries.length, 106);
  },
);

t.test('never more unrecorded than the budget; the ledger frees it', async (t) => {
  let recordedSends = 0;
  let unrecordedMax = 0;
  const sender = new ScriptedSender();
  sender.script = (_deviceId, count) => {
    unrecordedMax = Math.max(unrecordedMax, count - recordedSends);
    return DELIVERED;
  };
  const scene = sceneOf(chunkTask(), {
    offsets: first(8_192),
    sender,
    budgetMax: 512,
    reply: async (progress, clock) => {
      await new Promise((resolve) => setImmediate(resolve));
      recordedSends += progress.sends;
      return recorded(clock);
    },
  });
  await runChunk(chunkTask(), scene.context);
  t.match(sumOf(scene.reports), { total: 8_192, delivered: 8_192, isComplete: true });
  t.ok(unrecordedMax <= 512, `${unrecordedMax} unrecorded`);
});

t.test('nobody knows whether it was accepted: tried again at least once', async (t) => {
  const sender = new ScriptedSender(() => {
    // No connection that is lost is lost in no time.
    scene.clock.pass(10);
    return UNKNOWN;
  });
  const scene = sceneOf(chunkTask(), { offsets: first(8_192), sender });
  await runChunk(chunkTask(), scene.context);
  const sum = sumOf(scene.reports);
  t.equal(sum.retries.length, sum.total, 'sends of unknown end are never counted as unsent');
  t.ok(sum.total >= FAILURES_IN_A_ROW_MAX && sum.total < 1_000, `${sum.total} concerned`);
});

const DOUBTFUL: Outcome = { kind: 'bad-message', reason: 'INVALID_ARGUMENT', mayBeDevice: true };

t.test('one strange device does not stop the others', async (t) => {
  const script = (deviceId: string): Outcome => (deviceId === 'device-0' ? DOUBTFUL : DELIVERED);
  const scene = sceneOf(chunkTask(), { offsets: first(100), sender: new ScriptedSender(script) });
  await runChunk(chunkTask(), scene.context);
  t.match(sumOf(scene.reports), {
    total: 100,
    delivered: 99,
    failed: 1,
    reasons: { INVALID_ARGUMENT: 1 },
    fault: null,
  });
});

t.test('a group full of devices refused alike is no fault of the message', async (t) => {
  const sender = new ScriptedSender(() => DOUBTFUL, 64);
  const scene = sceneOf(chunkTask(), { offsets: first(8_192), sender });
  await runChunk(chunkTask(), scene.context);
  t.equal(sender.sent.length, 8_192, 'anybody can register them: each is asked about');
  t.match(sumOf(scene.reports), { total: 8_192, failed: 8_192, fault: null });
});

const PAGE: Outcome = {
  kind: 'unavailable',
  reason: 'status 403',
  retryAfterMs: null,
  isWordless: true,
};

t.test('one page of a proxy stops nothing', async (t) => {
  const script = (deviceId: string): Outcome => (deviceId === 'device-3' ? PAGE : DELIVERED);
  const scene = sceneOf(chunkTask(), { offsets: first(100), sender: new ScriptedSender(script) });
  await runChunk(chunkTask(), scene.context);
  const sum = sumOf(scene.reports);
  t.match(sum, { delivered: 99, failed: 0, fault: null });
  t.equal(sum.retries.length, 1, 'it is tried again');
});

t.test('pages only, for a minute: a fault, unless somebody has it', async (t) => {
  for (const hasDelivered of [false, true]) {
    const task = chunkTask({ hasDelivered });
    const scene = sceneOf(task, { offsets: first(20), sender: new ScriptedSender(() => PAGE, 1) });
    const clock = new ManualClock();
    const breaker = new CircuitBreaker(clock);
    for (let n = 0; n < REFUSALS_ALIKE; n += 1) {
      breaker.sent();
      breaker.settled(PAGE);
    }
    clock.pass(REFUSALS_ALIKE_FOR_MS);
    await runChunk(task, { ...scene.context, breaker });
    t.match(sumOf(scene.reports), { fault: hasDelivered ? null : 'status 403' });
    t.equal(scene.sender.sent.length, hasDelivered ? 20 : 1);
  }
});

t.test('reasons that nobody knows are told', async (t) => {
  const sender = new ScriptedSender(() => ({ ...DOUBTFUL, unfamiliarStatus: 418 }), 1);
  const scene = sceneOf(chunkTask(), { offsets: [1], sender });
  await runChunk(chunkTask(), scene.context);
  t.same(scene.unfamiliar, [{ status: 418, reason: 'INVALID_ARGUMENT' }]);
});

t.test('what a send tells of its device, beside its ending', async (t) => {
  const outcomes: Readonly<Record<string, Outcome>> = {
    'device-1': { kind: 'delivered', environment: 'sandbox' },
    'device-4': { kind: 'bad-token', reason: 'BadDeviceToken', isInconclusive: true },
    'device-5': { kind: 'bad-token', reason: 'BadDeviceToken', isUnasked: true },
  };
  const sender = new ScriptedSender((deviceId) => outcomes[deviceId] ?? DELIVERED);
  const histories = new Map([
    [2, { refusals: 2, environment: null }],
    [3, { refusals: 0, environment: 'sandbox' as const }],
  ]);
  const scene = sceneOf(chunkTask(), { offsets: [0, 1, 2, 3, 4, 5], sender, histories });
  await runChunk(chunkTask(), scene.context);
  t.same(sumOf(scene.reports).observations, [
    { ordinal: 1, kind: 'moved', environment: 'sandbox' },
    { ordinal: 2, kind: 'restored' },
  ]);
  t.same(
    sender.environments,
    [null, null, null, 'sandbox', null, null],
    'it is asked where it was taken',
  );
});

t.test('unknown outcomes that are sent again say so', async (t) => {
  const script = (deviceId: string): Outcome => (deviceId === 'device-3' ? UNKNOWN : DELIVERED);
  const scene = sceneOf(chunkTask(), { offsets: first(10), sender: new ScriptedSender(script) });
  await runChunk(chunkTask(), scene.context);
  const { retries } = sumOf(scene.reports);
  t.match(retries, [{ ordinal: 3, isUncertain: true }]);
});

t.test('at most once: an unknown outcome is failed', async (t) => {
  const task = chunkTask({ isAtMostOnce: true });
  const script = (deviceId: string): Outcome => (deviceId === 'device-3' ? UNKNOWN : DELIVERED);
  const scene = sceneOf(task, { offsets: first(10), sender: new ScriptedSender(script) });
  await runChunk(task, scene.context);
  t.match(sumOf(scene.reports), {
    total: 10,
    delivered: 9,
    failed: 1,
    reasons: { 'OutcomeUnknown: Timeout': 1 },
    retries: [],
  });
});

t.test('at most once: no device is sent before the ledger knows that its block was', async (t) => {
  const task = chunkTask({ isAtMostOnce: true });
  let known = 0n;
  let violations = 0;
  const sender = new ScriptedSender((deviceId) => {
    const block = BigInt(Math.floor(Number(deviceId.slice('device-'.length)) / 128));
    if (((known >> block) & 1n) === 0n) violations += 1;
    return DELIVERED;
  }, 20);
  const scene = sceneOf(task, {
    offsets: first(8_192),
    sender,
    reply: async (progress, clock) => {
      await new Promise((resolve) => setImmediate(resolve));
      if (progress.kind === 'chunk' && progress.started !== null) {
        known = BigInt.asUintN(64, progress.started);
      }
      return recorded(clock);
    },
  });
  await runChunk(task, scene.context);
  t.equal(violations, 0);
  t.match(sumOf(scene.reports), { total: 8_192, delivered: 8_192, isComplete: true });
});

t.test('at most once: what a lost process may have sent is failed, the rest is sent', async (t) => {
  const task = chunkTask({ isAtMostOnce: true, doneBlocks: 0b1n, startedBlocks: 0b111n });
  const scene = sceneOf(task, { offsets: first(128 * 5) });
  await runChunk(task, scene.context);
  t.equal(scene.sender.sent[0], 'device-384');
  t.equal(scene.sender.sent.length, 256);
  t.match(sumOf(scene.reports), {
    total: 512,
    delivered: 256,
    failed: 256,
    reasons: { 'OutcomeUnknown: the process that sent it was lost': 256 },
    isComplete: false,
    blocks: BigInt.asUintN(64, ~1n),
  });
});

t.test('at most once: given back in order, nothing is in doubt', async (t) => {
  const task = chunkTask({ isAtMostOnce: true });
  const sender = new ScriptedSender(() => DELIVERED, 10);
  const scene = sceneOf(task, { offsets: first(8_192), sender });
  sender.script = (_deviceId, count) => {
    if (count === 150) scene.control.giveBack(scene.clock.monotonicMs() + 2_000, null);
    return DELIVERED;
  };
  await runChunk(task, scene.context);
  t.match(scene.reports.at(-1), { started: 0n, releaseAfterMs: 0 });
  t.equal(sumOf(scene.reports).total, sender.sent.length);
});

t.test('a slow chunk shows within a second what has ended in its begun blocks', async (t) => {
  const sender = new ScriptedSender((_, count) => (count <= 50 ? DELIVERED : null));
  const shown: ChunkProgress[] = [];
  let show: () => void = () => undefined;
  const isShown = new Promise<void>((resolve) => {
    show = resolve;
  });
  const scene = sceneOf(chunkTask(), {
    offsets: first(200),
    sender,
    reply(progress, clock) {
      if (progress.kind === 'chunk' && progress.begun !== undefined) {
        shown.push(progress);
        show();
      }
      return recorded(clock);
    },
  });
  const startedMs = performance.now();
  const run = runChunk(chunkTask(), scene.context);
  await isShown;
  t.ok(performance.now() - startedMs < 5_000, 'within a second, and a busy machine has its time');
  t.match(shown, [{ blocks: 0n, counts: { total: 0 }, begun: { total: 50, delivered: 50 } }]);
  t.match(sumOf(scene.reports), { total: 0 }, 'shown, not counted');
  sender.script = () => DELIVERED;
  sender.answer(DELIVERED);
  await run;
  t.match(sumOf(scene.reports), { total: 200, delivered: 200, isComplete: true });
  t.match(shown.at(-1), { begun: { total: 0 } }, 'its reports go on to say it');
});

t.test('a fast chunk shows its finished blocks, and no others', async (t) => {
  const scene = sceneOf(chunkTask(), { offsets: first(8_192) });
  await runChunk(chunkTask(), scene.context);
  t.notOk(scene.reports.some((report) => 'begun' in report));
});
