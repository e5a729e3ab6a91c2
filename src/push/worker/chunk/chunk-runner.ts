/**
 * Sends one chunk: resolves its group once, sends the devices of the blocks that are not done,
 * reports blocks as they finish, and ends in one of three ways: complete, given back, or lost to
 * another. Knows nothing of threads.
 */

import { BLOCK_DEVICES, GROUP_BLOCKS, GROUP_DEVICES } from '../../../domain/device.ts';
import type { ChunkTask } from '../../protocol/task.ts';
import { Reporter } from '../reporter.ts';
import type { RunContext } from '../run-context.ts';
import type { Halt, Release } from '../send/courier.ts';
import { carry } from '../send/delivery.ts';
import type { Ending } from '../send/ending.ts';
import { outcomeUnknown } from '../send/ending.ts';
import { Blocks } from './blocks.ts';
import { ChunkFreight } from './chunk-freight.ts';

/** A device of a half sent block that is given back becomes a retry that was never tried. */
const NOT_SENT: Ending = {
  kind: 'retry',
  reason: 'NotSent',
  dueInMs: 0,
  attempts: 0,
  mayCountAsUnsent: false,
  isUncertain: false,
};

const REST: Release = { kind: 'give-back', afterMs: 0, reason: null };

/** Resolves when the chunk's last report is answered. */
export async function runChunk(task: ChunkTask, context: RunContext): Promise<void> {
  const { tagIndex, control, share, lease, clock } = context;
  const { appId, platformId, groupNumber } = task;
  const run = await tagIndex.resolve({
    group: { appId, platformId, groupNumber },
    audience: task.audience,
    ordinalEnd: task.ordinalEnd,
    expectedVersion: task.groupVersion,
    firstOffset: firstUndone(task.doneBlocks) * BLOCK_DEVICES,
  });
  const firstOrdinal = groupNumber * GROUP_DEVICES;
  const known = (run.endOffset ?? GROUP_DEVICES) / BLOCK_DEVICES;
  const { doneBlocks, startedBlocks } = task;
  const blocks = new Blocks(run.offsets, firstOrdinal, doneBlocks, startedBlocks, known);
  // What was left out is claimed again at once.
  const rest: Release | null = run.endOffset === undefined ? null : REST;
  const freight = new ChunkFreight(task, context, blocks, run, () => reporter.poke());
  const reporter = new Reporter({
    report: context.report,
    take: (isSignOfLife) => freight.takeReport(isSignOfLife, null),
    heard: (verdict, progress) => {
      if (verdict.kind === 'recorded') {
        lease.renew(verdict.sentAtMs);
        if (progress.kind === 'chunk') freight.recorded(progress);
      }
      control.hear(verdict, clock.monotonicMs());
      share.recorded(progress.sends);
    },
    isUrgent: () => share.budget.isNearlyUsedUp,
    signOfLifeEveryMs: task.leaseMs / 4,
  });

  // Whoever had it before has sent some of these, and nobody knows which.
  blocks.settleInDoubt(outcomeUnknown('the process that sent it was lost'));
  try {
    const halt =
      (await carry(task, context, freight, () => reporter.urge())) ?? doubt(blocks, context);
    await reporter.finish(() => {
      if (control.isLost) return null;
      const release = conclude(blocks, halt, rest);
      return freight.takeReport(release !== null, release);
    });
  } finally {
    reporter.stop();
  }
}

/**
 * All was sent, but the provider has begun to fail for everyone: what it failed for may wait with
 * the chunk.
 */
function doubt(blocks: Blocks, { health }: RunContext): Halt | null {
  const afterMs = health.stoppedForMs;
  if (afterMs === 0 || !blocks.hasDoubtful) return null;
  return { kind: 'give-back', afterMs, reason: health.lastReason };
}

/** The first block that is not done, as far as such a mask can tell. */
function firstUndone(doneBlocks: bigint): number {
  let block = 0;
  while (block < GROUP_BLOCKS - 1 && ((doneBlocks >> BigInt(block)) & 1n) === 1n) block += 1;
  return block;
}

/**
 * What becomes of the rest; `unresolved`: of what this run does not know. Null: the chunk is not
 * given back.
 */
function conclude(blocks: Blocks, halt: Halt | null, unresolved: Release | null): Release | null {
  switch (halt?.kind) {
    case 'give-back':
      blocks.giveBack(NOT_SENT);
      return halt;
    case 'settle-rest':
      blocks.settleRest(halt.ending);
      return unresolved;
    case 'lost':
    case undefined:
      blocks.keepDoubtful();
      return unresolved;
  }
}
