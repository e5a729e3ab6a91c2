/**
 * Sends one batch of retries: asks again which devices still exist and still match (the others are
 * `skipped`), sends, and settles each row. The lease of a batch is not renewed: devices that are
 * not sent to within half of it are due again.
 */

import type { RetryTask } from '../../protocol/task.ts';
import { Reporter } from '../reporter.ts';
import type { RunContext } from '../run-context.ts';
import type { Halt } from '../send/courier.ts';
import { carry } from '../send/delivery.ts';
import { RetryFreight } from './retry-freight.ts';

/** Resolves when the batch's last report is answered. */
export async function runRetries(task: RetryTask, context: RunContext): Promise<void> {
  const { tagIndex, control, share, clock } = context;
  const present = await tagIndex.recheck(task, task.ordinals, task.audience);
  const freight = new RetryFreight(task, context, present, () => reporter.poke());
  const reporter = new Reporter({
    report: context.report,
    take: () => freight.takeReport(),
    heard: (verdict, progress) => {
      control.hear(verdict, clock.monotonicMs());
      share.recorded(progress.sends);
    },
    isUrgent: () => share.budget.isNearlyUsedUp,
    signOfLifeEveryMs: task.leaseMs / 4,
  });
  try {
    const halt = await carry(task, context, freight, () => reporter.urge());
    await reporter.finish(() => {
      conclude(freight, halt);
      return freight.takeReport();
    });
  } finally {
    reporter.stop();
  }
}

function conclude(freight: RetryFreight, halt: Halt | null): void {
  switch (halt?.kind) {
    case 'give-back':
      freight.giveBack(halt);
      break;
    case 'settle-rest':
      freight.settleRest(halt.ending);
      break;
    case 'lost':
    case undefined:
      break;
  }
}
