/** A chunk as a send queue for the send loop, and as reports to the ledger. */

import type { DeviceToken } from '../../../domain/device.ts';
import { GROUP_BLOCKS } from '../../../domain/device.ts';
import type { DeviceHistory } from '../../../domain/device-group-change.ts';
import type { Counts } from '../../../domain/notification.ts';
import type { Outcome } from '../../../domain/outcome.ts';
import type { ChunkProgress, PlacesProgress, Reached } from '../../../domain/progress.ts';
import type { DeviceRun } from '../../../tag-index/tag-index.ts';
import type { ChunkTask } from '../../protocol/task.ts';
import type { RunContext } from '../run-context.ts';
import { judge } from '../send/delivery.ts';
import { FailureNotes } from '../send/failure-notes.ts';
import type { Release, SendQueue } from '../send/send-loop.ts';
import { waitIn } from '../send/send-loop.ts';
import { mayLieInScope } from '../small-reach.ts';
import type { Blocks } from './blocks.ts';
import { greater, lesser, Tally } from './tally.ts';

/**
 * A crash leaves these thousand devices in doubt; they last until the next report, in 50 ms.
 * @limit blocks announced ahead, at most once → the task waits for the ledger. After `kill -9` they
 * end as `OutcomeUnknown`
 */
const ANNOUNCED_BLOCKS = 8;

const NOTHING_FINISHED = () => ({
  blocks: 0n,
  tally: new Tally(),
  reached: null,
  rest: null,
  places: null,
});

export class ChunkSendQueue implements SendQueue {
  private readonly task: ChunkTask;
  private readonly context: RunContext;
  private readonly blocks: Blocks;
  private readonly run: DeviceRun;
  private readonly failures = new FailureNotes();
  /** At most once: blocks that reports announced, and those that the ledger has recorded. */
  private announced: bigint;
  private cleared = 0n;
  private readonly onProgress: () => void;
  /** Devices in begun blocks, as the last report has shown them. */
  private shown = 0;
  /** Reports show what is in begun blocks; of a fast chunk, the finished blocks are enough. */
  private isShown: boolean;

  constructor(
    task: ChunkTask,
    context: RunContext,
    blocks: Blocks,
    run: DeviceRun,
    onProgress: () => void,
  ) {
    this.task = task;
    this.context = context;
    this.blocks = blocks;
    this.run = run;
    this.announced = task.startedBlocks;
    this.onProgress = onProgress;
    this.isShown = context.pace !== null;
  }

  /** Whether devices have ended in blocks that are not finished, and no report has shown it. */
  get hasNews(): boolean {
    return this.blocks.begun.counts.total !== this.shown;
  }

  get size(): number {
    return this.blocks.size;
  }

  get next(): number | null {
    return this.blocks.next;
  }

  get isAtBoundary(): boolean {
    return this.blocks.isAtBoundary;
  }

  get isNextCleared(): boolean {
    return !this.task.isAtMostOnce || this.blocks.isNextIn(this.cleared);
  }

  /** The ledger has recorded the blocks that this report announced. */
  recorded({ started }: ChunkProgress): void {
    if (started !== null) this.cleared |= BigInt.asUintN(GROUP_BLOCKS, started);
  }

  historyAt(position: number): DeviceHistory | null {
    return this.run.histories.get(this.blocks.ordinalAt(position)) ?? null;
  }

  languageAt(position: number): number {
    return this.run.languages?.[position] ?? 0;
  }

  deviceIdAt(position: number): DeviceToken {
    const deviceId = this.run.deviceIds.at(position);
    if (deviceId === undefined) throw new RangeError(`no device at position ${position}`);
    return deviceId;
  }

  advance(atMs: number): void {
    this.blocks.advance(atMs);
  }

  /** No device of a chunk was tried before, so none is late. */
  endLate(): void {
    // Nothing to end.
  }

  settle(position: number, outcome: Outcome): void {
    const device = {
      ordinal: this.blocks.ordinalAt(position),
      history: this.historyAt(position),
      attempts: 0,
    };
    const { ending, observation } = judge(this.task, this.context, outcome, device);
    this.failures.note(device.ordinal, ending);
    this.blocks.settle(position, ending, observation);
    if (this.blocks.hasFinished) this.onProgress();
  }

  /** Null: no news, unless `isEmptyToo`, or a block must be announced before its send. */
  takeReport(isEmptyToo: boolean, release: Release | null): ChunkProgress | null {
    const finished = this.blocks.take();
    if (finished === null && !isEmptyToo && this.isNextCleared) return null;
    const { blocks, tally, reached, rest, places } = finished ?? NOTHING_FINISHED();
    // From its first sign of life on, so that no later report takes back what one has shown.
    this.isShown ||= isEmptyToo && release === null;
    const begun = this.isShown && release === null ? this.blocks.begun : null;
    this.shown = begun?.counts.total ?? 0;
    return {
      kind: 'chunk',
      notificationId: this.task.message.notificationId,
      appId: this.task.appId,
      platformId: this.task.platformId,
      groupNumber: this.task.groupNumber,
      epoch: this.task.epoch,
      blocks,
      counts: withWithheld(tally.counts, places),
      reasons: [...tally.reasons],
      retries: tally.retries,
      ...this.reachedIn(reached),
      ...(rest === null ? {} : { rest: rest.words }),
      ...(places === null ? {} : { places }),
      started: this.announce(release !== null),
      openDevices: this.blocks.openDevices,
      ...(begun === null ? {} : { begun: begun.counts }),
      observations: tally.observations,
      ...this.failures.take(),
      fault: tally.counts.total > 0 ? this.context.control.fault : null,
      sends: tally.sends,
      sentFromMs: lesser(tally.sentFromMs, begun?.sentFromMs ?? null),
      sentToMs: greater(tally.sentToMs, begun?.sentToMs ?? null),
      releaseAfterMs: release?.afterMs ?? null,
      ...(release === null ? {} : waitIn(release)),
    };
  }

  /** Says in a report which devices its blocks have reached. */
  private reachedIn(
    reached: Reached | null,
  ): Pick<ChunkProgress, 'reached' | 'isReachedInScope' | 'isDoubted'> {
    if (reached === null) return {};
    return {
      reached,
      ...(mayLieInScope(this.task, this.size) ? { isReachedInScope: true } : {}),
      ...(this.task.isDoubted ? { isDoubted: true } : {}),
    };
  }

  /**
   * Blocks that count as started from this report on: the next claim does not send them again.
   * Given back, every send has its ending: only blocks that are not known here stay started.
   */
  private announce(isGivenBack: boolean): bigint | null {
    if (!this.task.isAtMostOnce) return null;
    if (isGivenBack) return this.blocks.unknownOf(this.task.startedBlocks);
    this.announced |= this.blocks.ahead(ANNOUNCED_BLOCKS);
    return BigInt.asIntN(GROUP_BLOCKS, this.announced);
  }
}

/** The total has those, too, who were left out. */
const withWithheld = (counts: Counts, places: PlacesProgress | null): Counts => {
  const withheld = places?.withheld?.devices ?? 0;
  return withheld === 0 ? counts : { ...counts, total: counts.total + withheld };
};
