/**
 * Sends one chunk: resolves its group once, ends blocks in doubt as "outcome unknown", sends and
 * reports the others. An order, an ended lease or a failing provider halts it (`Halt`): `give-back`
 * keeps the rest for another claim, `settle-rest` ends it, `lost` means that another claim has the
 * chunk.
 */

import { BLOCK_DEVICES, GROUP_BLOCKS, GROUP_DEVICES } from '../../../domain/device.ts';
import type { ResolveRequest } from '../../../tag-index/tag-index.ts';
import type { ChunkTask } from '../../protocol/task.ts';
import { Reporter } from '../reporter.ts';
import type { RunContext } from '../run-context.ts';
import { languagesAskedOf, sendAll } from '../send/delivery.ts';
import type { Ending } from '../send/ending.ts';
import { outcomeUnknown } from '../send/ending.ts';
import type { Halt, Release } from '../send/send-loop.ts';
import { Steps } from '../steps.ts';
import { Blocks } from './blocks.ts';
import { ChunkSendQueue } from './chunk-send-queue.ts';
import { holdToCaps } from './places.ts';

/**
 * Its publisher sees each second what it has done, for two rows a second at most.
 * @limit between reports without news, of a chunk that is held to a rate
 */
const PACED_REPORT_EVERY_MS = 500;

/** An unsent device of a half sent block becomes a retry when the chunk is given back. */
const NOT_SENT: Ending = {
  kind: 'retry',
  reason: 'NotSent',
  dueInMs: 0,
  attempts: 0,
  mayCountAsUnsent: false,
  isUncertain: false,
};

const REST: Release = { kind: 'give-back', afterMs: 0, reason: null };

/** @limit until a chunk whose places were held for too long is claimed again */
const BUSY_MS = 1_000;
/** No device was sent to. */
const BUSY: Release = { kind: 'give-back', afterMs: BUSY_MS, reason: null };

const resolveRequestOf = (task: ChunkTask): ResolveRequest => ({
  group: { appId: task.appId, platformId: task.platformId, groupNumber: task.groupNumber },
  audience: task.audience,
  ordinalEnd: task.ordinalEnd,
  expectedVersion: task.groupVersion,
  firstOffset: firstUndone(task.doneBlocks) * BLOCK_DEVICES,
  askedLanguages: languagesAskedOf(task),
  ...(task.leftOut === undefined ? {} : { leftOut: task.leftOut }),
  ...(task.named === undefined ? {} : { named: task.named }),
});

/** Resolves when the chunk's last report is answered. */
export async function runChunk(task: ChunkTask, context: RunContext): Promise<void> {
  const { tagIndex, control, share, lease, clock } = context;
  const { groupNumber } = task;
  const steps = new Steps(context);
  const resolved = await tagIndex.resolve(resolveRequestOf(task));
  steps.resolved(resolved.offsets.length);
  const held = await holdToCaps(task, resolved, context.takePlaces);
  if (held === null) return steps.end();
  const { run, places, isBusy } = held;
  const firstOrdinal = groupNumber * GROUP_DEVICES;
  const known = (run.endOffset ?? GROUP_DEVICES) / BLOCK_DEVICES;
  const { doneBlocks, startedBlocks, isDoubted } = task;
  const isGone = run.hasGone ? (at: number) => run.deviceIds.at(at) === undefined : undefined;
  const blocks = new Blocks(
    run.offsets,
    firstOrdinal,
    doneBlocks,
    startedBlocks,
    known,
    isDoubted,
    isGone,
    places,
  );
  // The blocks that were left out can be claimed again at once.
  const rest: Release | null = run.endOffset === undefined ? null : REST;
  const queue = new ChunkSendQueue(task, context, blocks, run, () => reporter.poke());
  const reporter = new Reporter({
    report: context.report,
    take: (isSignOfLife) => queue.takeReport(isSignOfLife, null),
    heard: (reply, progress) => {
      if (reply.kind === 'recorded') {
        lease.renew(reply.sentAtMs);
        if (progress.kind === 'chunk') queue.recorded(progress);
      }
      control.hear(reply, clock.monotonicMs());
      share.recorded(progress.sends);
      steps.recorded(progress.sends);
    },
    isUrgent: () => share.budget.isNearlyUsedUp,
    signOfLifeEveryMs: Math.min(
      task.leaseMs / 4,
      context.pace === null ? Number.POSITIVE_INFINITY : PACED_REPORT_EVERY_MS,
    ),
    hasNews: () => queue.hasNews,
  });

  // The claim before has sent to some of these devices, and it is not known to which.
  blocks.settleInDoubt(outcomeUnknown('the process that sent it was lost'));
  try {
    const halt = isBusy
      ? BUSY
      : ((await sendAll(task, context, queue, () => reporter.urge())) ?? doubt(blocks, context));
    steps.sent();
    await reporter.finish(() => {
      if (control.isLost) return null;
      const release = conclude(blocks, halt, rest);
      return queue.takeReport(release !== null, release);
    });
  } finally {
    reporter.stop();
    steps.end();
  }
}

/** All was sent, but the provider has begun to fail: failed blocks may wait with the chunk. */
function doubt(blocks: Blocks, { breaker }: RunContext): Halt | null {
  const afterMs = breaker.stoppedForMs;
  if (afterMs === 0 || !blocks.hasDoubtful) return null;
  return { kind: 'give-back', afterMs, reason: breaker.lastReason };
}

/** The first block that is not done; the last block if all are. */
function firstUndone(doneBlocks: bigint): number {
  let block = 0;
  while (block < GROUP_BLOCKS - 1 && ((doneBlocks >> BigInt(block)) & 1n) === 1n) block += 1;
  return block;
}

/** `unresolved`: the release for blocks not resolved here. Null: the chunk is not given back. */
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
