import t from 'tap';
import { DELIVERED } from '../../../../src/domain/outcome.ts';
import { runChunk } from '../../../../src/push/worker/chunk/chunk-runner.ts';
import { BudgetShare } from '../../../../src/push/worker/send-budget.ts';
import { systemClock } from '../../../../src/std/clock.ts';
import { until } from '../../../support/poll.ts';
import { chunkTask, ScriptedSender, sceneOf, sumOf } from '../../../support/scripted-sender.ts';

const first = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

t.test('a small notification beside a big one on the same sender gets its turns', async (t) => {
  const sender = new ScriptedSender(() => DELIVERED, 4);
  const big = sceneOf(chunkTask(), { offsets: first(8_192), sender });
  const small = sceneOf(chunkTask(), { offsets: first(20), sender });
  const bigRun = runChunk(chunkTask(), big.context);
  await until('the big one is under way', () => (sender.sent.length > 100 ? true : null));
  const sentBefore = sender.sent.length;
  await runChunk(chunkTask(), {
    ...small.context,
    share: new BudgetShare(big.budget, { used: 0 }),
  });
  const sentMeanwhile = sender.sent.length - sentBefore;
  await bigRun;
  t.ok(sentMeanwhile < 1_000, `${sentMeanwhile} sends until twenty were through`);
});

t.test('asked to give back while nothing can be sent: it does so in time', async (t) => {
  const sender = new ScriptedSender((_deviceId, count) => (count === 1 ? DELIVERED : null), 1);
  const task = chunkTask({ retryUntilMs: Date.now() + 60_000 });
  const scene = sceneOf(task, { offsets: first(200), sender });
  const running = runChunk(task, { ...scene.context, clock: systemClock });
  await until('one is answered, one is not', () => (sender.sent.length === 2 ? true : null));
  const beganMs = systemClock.monotonicMs();
  scene.control.giveBack(beganMs + 50, beganMs + 100);
  await running;
  t.ok(systemClock.monotonicMs() - beganMs < 3_000, 'long before anything times out');
  const sum = sumOf(scene.reports);
  t.match(sum, { total: 128, delivered: 1, releaseAfterMs: 0 });
  t.equal(sum.retries.length, 127);
  sender.answer(DELIVERED);
});

t.test('asked to yield only: what is under way is waited for, never sent again', async (t) => {
  const sender = new ScriptedSender(() => null, 10);
  const scene = sceneOf(chunkTask(), { offsets: first(200), sender });
  const running = runChunk(chunkTask(), scene.context);
  await until('some are under way', () => (sender.sent.length === 10 ? true : null));
  scene.control.giveBack(scene.clock.monotonicMs(), null);
  for (let turns = 0; turns < 3; turns += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    scene.clock.pass(5_000);
    scene.control.changed.fire();
  }
  await new Promise((resolve) => setImmediate(resolve));
  sender.answer(DELIVERED);
  await running;
  t.match(sumOf(scene.reports), { total: 128, delivered: 10 });
});

/** Sends of a task that a node with this id has claimed. */
const NODE_ID = 7;

for (const [what, become] of [
  ['has not been heard for too long', { id: NODE_ID, passMs: 2_500 }],
  ['is back under another id', { id: NODE_ID + 1, passMs: 0 }],
] as const) {
  t.test(`a node that ${what} sends nothing more, and gives the rest back`, async (t) => {
    const task = chunkTask({ nodeId: NODE_ID });
    const sender = new ScriptedSender(() => DELIVERED, 10);
    const scene = sceneOf(task, { offsets: first(8_192), sender });
    scene.presence.prolong(NODE_ID, scene.clock.monotonicMs() + 2_500);
    let sentBefore = 0;
    sender.script = (_deviceId, count) => {
      if (count === 300) {
        scene.clock.pass(become.passMs);
        scene.presence.prolong(become.id, scene.clock.monotonicMs() + 2_500 - become.passMs);
        sentBefore = count;
      }
      return DELIVERED;
    };
    await runChunk(task, scene.context);
    t.equal(sentBefore, 300);
    t.ok(sender.sent.length < 300 + 32, `${sender.sent.length} sent`);
    const sum = sumOf(scene.reports);
    t.match(sum, { delivered: sender.sent.length, releaseAfterMs: 0, isComplete: false });
  });
}

t.test('a node that is present sends all of it', async (t) => {
  const task = chunkTask({ nodeId: NODE_ID });
  const scene = sceneOf(task, { offsets: first(300) });
  scene.presence.prolong(NODE_ID, scene.clock.monotonicMs() + 2_500);
  await runChunk(task, scene.context);
  t.match(sumOf(scene.reports), { delivered: 300, isComplete: true });
});
