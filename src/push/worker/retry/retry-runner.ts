/**
 * Sends one batch of retries to the devices that still exist and match (others are `skipped`). Its
 * lease is not renewed: devices not sent to within half of it are due again.
 */

import type { RetryTask } from '../../protocol/task.ts';
import { Reporter } from '../reporter.ts';
import type { RunContext } from '../run-context.ts';
import { languagesAskedOf, sendAll } from '../send/delivery.ts';
import type { Halt } from '../send/send-loop.ts';
import { Steps } from '../steps.ts';
import { RetrySendQueue } from './retry-send-queue.ts';

/** Resolves when the batch's last report is answered. */
export async function runRetries(task: RetryTask, context: RunContext): Promise<void> {
  const { tagIndex, control, share, clock } = context;
  const steps = new Steps(context);
  const present = await tagIndex.recheck(
    task,
    task.ordinals,
    task.audience,
    languagesAskedOf(task),
  );
  steps.resolved(task.ordinals.length);
  const queue = new RetrySendQueue(task, context, present, () => reporter.poke());
  const reporter = new Reporter({
    report: context.report,
    take: () => queue.takeReport(),
    heard: (reply, progress) => {
      control.hear(reply, clock.monotonicMs());
      share.recorded(progress.sends);
      steps.recorded(progress.sends);
    },
    isUrgent: () => share.budget.isNearlyUsedUp,
    signOfLifeEveryMs: task.leaseMs / 4,
  });
  try {
    const halt = await sendAll(task, context, queue, () => reporter.urge());
    steps.sent();
    await reporter.finish(() => {
      conclude(queue, halt);
      return queue.takeReport();
    });
  } finally {
    reporter.stop();
    steps.end();
  }
}

function conclude(queue: RetrySendQueue, halt: Halt | null): void {
  switch (halt?.kind) {
    case 'give-back':
      queue.giveBack(halt);
      break;
    case 'settle-rest':
      queue.settleRest(halt.ending);
      break;
    case 'lost':
    case undefined:
      break;
  }
}
