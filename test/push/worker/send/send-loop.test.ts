import t from 'tap';
import type { Outcome } from '../../../../src/domain/outcome.ts';
import { DELIVERED } from '../../../../src/domain/outcome.ts';
import { FairQueue } from '../../../../src/push/worker/fair-queue.ts';
import { CANCELLED, failedWith } from '../../../../src/push/worker/send/ending.ts';
import type { Halt, SendQueue } from '../../../../src/push/worker/send/send-loop.ts';
import { SendLoop } from '../../../../src/push/worker/send/send-loop.ts';
import { BudgetShare } from '../../../../src/push/worker/send-budget.ts';
import type { TaskControl } from '../../../../src/push/worker/task-control.ts';
import type { Clock } from '../../../../src/std/clock.ts';
import { systemClock } from '../../../../src/std/clock.ts';
import { until } from '../../../support/poll.ts';
import { chunkTask, ScriptedSender, sceneOf } from '../../../support/scripted-sender.ts';

const AT_ONCE = { kind: 'give-back', afterMs: 0, reason: null };

/** So many devices in one row, which must not be left half sent; and what became of each. */
class Row implements SendQueue {
  readonly size: number;
  readonly isNextCleared = true;
  readonly outcomes = new Map<number, Outcome>();
  private position = 0;

  constructor(size: number) {
    this.size = size;
  }

  get next(): number | null {
    return this.position < this.size ? this.position : null;
  }

  get isAtBoundary(): boolean {
    return this.position === 0 || this.position === this.size;
  }

  deviceIdAt(position: number): string {
    return `device-${position}`;
  }

  languageAt(): number {
    return 0;
  }

  historyAt(): null {
    return null;
  }

  advance(): void {
    this.position += 1;
  }

  settle(position: number, outcome: Outcome): void {
    if (this.outcomes.has(position)) throw new Error(`${position} was settled twice`);
    this.outcomes.set(position, outcome);
  }

  endLate(): void {
    // No device has a time of its own.
  }

  countOf(kind: Outcome['kind']): number {
    return [...this.outcomes.values()].filter((outcome) => outcome.kind === kind).length;
  }
}

/** A task of `size` devices, its send loop, and all that the send loop asks. */
function makeLoop(
  size: number,
  {
    sender = new ScriptedSender(),
    nodeId = null as number | null,
    clock = null as Clock | null,
  } = {},
) {
  const task = chunkTask({ nodeId });
  const scene = sceneOf(task, { offsets: [], sender });
  const row = new Row(size);
  const options = {
    ...scene.context,
    clock: clock ?? scene.clock,
    queue: row,
    notificationId: task.message.notificationId,
    isUrgent: task.isUrgent,
    sender,
    fairQueue: new FairQueue(sender, scene.clock),
    rendered: sender.render(),
    inLanguages: [],
    deadlines: task,
    urgeReport: () => undefined,
  };
  return { row, scene, sender, options };
}

t.test('all is sent, in order, and each send has its outcome', async (t) => {
  const { row, sender, options } = makeLoop(300);
  t.equal(await new SendLoop(options).run(), null);
  t.equal(row.countOf('delivered'), 300);
  t.strictSame(
    sender.sent,
    Array.from({ length: 300 }, (_, position) => row.deviceIdAt(position)),
  );
});

t.test('a small notification beside a big one on the same sender gets its turns', async (t) => {
  const sender = new ScriptedSender(() => DELIVERED, 4);
  const big = makeLoop(8_192, { sender });
  const small = makeLoop(20, { sender });
  const bigRun = new SendLoop(big.options).run();
  await until('the big one is under way', () => (sender.sent.length > 100 ? true : null));
  const sentBefore = sender.sent.length;
  await new SendLoop({
    ...small.options,
    notificationId: 'another',
    fairQueue: big.options.fairQueue,
    share: new BudgetShare(big.scene.budget, { used: 0 }),
  }).run();
  const sentMeanwhile = sender.sent.length - sentBefore;
  await bigRun;
  t.equal(small.row.countOf('delivered'), 20);
  t.ok(sentMeanwhile < 1_000, `${sentMeanwhile} sends until twenty were through`);
});

t.test('asked to give back while nothing can be sent: it does so in time', async (t) => {
  const sender = new ScriptedSender((_deviceId, count) => (count === 1 ? DELIVERED : null), 1);
  const { row, scene, options } = makeLoop(200, { sender, clock: systemClock });
  const running = new SendLoop(options).run();
  await until('one is answered, one is not', () => (sender.sent.length === 2 ? true : null));
  const beganMs = systemClock.monotonicMs();
  scene.control.giveBack(beganMs + 50, beganMs + 100);
  t.strictSame(await running, AT_ONCE);
  t.ok(systemClock.monotonicMs() - beganMs < 3_000, 'long before anything times out');
  const outcomes = [DELIVERED, { kind: 'unknown', reason: 'Abandoned' }];
  t.strictSame([...row.outcomes.values()], outcomes);
  sender.answer(DELIVERED);
  t.strictSame([...row.outcomes.values()], outcomes, "an answer after that is nobody's");
});

t.test('asked to yield only: what is under way is waited for, never sent again', async (t) => {
  const sender = new ScriptedSender(() => null, 10);
  const { row, scene, options } = makeLoop(200, { sender });
  let isOver = false;
  const running = new SendLoop(options).run().finally(() => {
    isOver = true;
  });
  await until('some are under way', () => (sender.sent.length === 10 ? true : null));
  scene.control.giveBack(scene.clock.monotonicMs(), null);
  for (let turns = 0; turns < 3; turns += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    scene.clock.pass(5_000);
    scene.control.changed.fire();
  }
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(isOver);
  sender.answer(DELIVERED);
  t.strictSame(await running, AT_ONCE);
  t.equal(row.countOf('delivered'), 10);
  t.equal(sender.sent.length, 10);
});

t.test('lost, cancelled, or a fault found: nothing more is sent', async (t) => {
  const changes: readonly (readonly [(control: TaskControl) => void, Halt])[] = [
    [(control) => control.hear({ kind: 'lost' }, 0), { kind: 'lost' }],
    [
      (control) => {
        control.isCancelled = true;
      },
      { kind: 'settle-rest', ending: CANCELLED },
    ],
    [
      (control) => control.find('Forbidden'),
      { kind: 'settle-rest', ending: failedWith('Forbidden') },
    ],
  ];
  for (const [change, halt] of changes) {
    const sender = new ScriptedSender(() => DELIVERED, 10);
    const { row, scene, options } = makeLoop(200, { sender });
    sender.script = (_deviceId, count) => {
      if (count === 5) change(scene.control);
      return DELIVERED;
    };
    t.strictSame(await new SendLoop(options).run(), halt);
    t.equal(sender.sent.length, 5);
    t.equal(row.countOf('delivered'), 5, 'what was under way has its outcome');
  }
});

/** Sends of a task that a node with this id has claimed. */
const NODE_ID = 7;

for (const [what, become] of [
  ['has not been heard for too long', { id: NODE_ID, passMs: 2_500 }],
  ['is back under another id', { id: NODE_ID + 1, passMs: 0 }],
] as const) {
  t.test(`a node that ${what} sends nothing more, and gives the rest back`, async (t) => {
    const sender = new ScriptedSender(() => DELIVERED, 10);
    const { row, scene, options } = makeLoop(8_192, { sender, nodeId: NODE_ID });
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
    t.strictSame(await new SendLoop(options).run(), AT_ONCE);
    t.equal(sentBefore, 300);
    t.ok(sender.sent.length < 300 + 32, `${sender.sent.length} sent`);
    t.equal(row.countOf('delivered'), sender.sent.length);
  });
}

t.test('a node that is present sends all of it', async (t) => {
  const { row, scene, options } = makeLoop(300, { nodeId: NODE_ID });
  scene.presence.prolong(NODE_ID, scene.clock.monotonicMs() + 2_500);
  t.equal(await new SendLoop(options).run(), null);
  t.equal(row.countOf('delivered'), 300);
});
