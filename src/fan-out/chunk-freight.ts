/** A chunk as freight of a courier, and as reports to the ledger. */

import type { Outcome } from '../domain/outcome.ts';
import type { ChunkProgress } from '../domain/progress.ts';
import type { Blocks } from './blocks.ts';
import type { Freight } from './courier.ts';
import { judge } from './delivery.ts';
import type { RunContext } from './run-context.ts';
import { Tally } from './tally.ts';
import type { ChunkTask } from './task.ts';

export class ChunkFreight implements Freight {
  private readonly task: ChunkTask;
  private readonly context: RunContext;
  private readonly blocks: Blocks;
  private readonly deviceIds: readonly string[];
  private readonly onProgress: () => void;

  constructor(
    task: ChunkTask,
    context: RunContext,
    blocks: Blocks,
    deviceIds: readonly string[],
    onProgress: () => void,
  ) {
    this.task = task;
    this.context = context;
    this.blocks = blocks;
    this.deviceIds = deviceIds;
    this.onProgress = onProgress;
  }

  get next(): number | null {
    return this.blocks.next;
  }

  get isAtBoundary(): boolean {
    return this.blocks.isAtBoundary;
  }

  deviceIdAt(position: number): string {
    const deviceId = this.deviceIds[position];
    if (deviceId === undefined) throw new RangeError(`no device at position ${position}`);
    return deviceId;
  }

  advance(atMs: number): void {
    this.blocks.advance(atMs);
  }

  settle(position: number, outcome: Outcome): void {
    const { ending, deadBeforeMs } = judge(this.task, this.context, outcome, 0);
    this.blocks.settle(position, ending, deadBeforeMs);
    if (this.blocks.hasFinished) this.onProgress();
  }

  /** What has finished since the last report. Without anything: null, unless an empty one has its own purpose. */
  takeReport(isEmptyToo: boolean, releaseAfterMs: number | null): ChunkProgress | null {
    const finished = this.blocks.take();
    if (finished === null && !isEmptyToo) return null;
    const { blocks, tally } = finished ?? { blocks: 0n, tally: new Tally() };
    return {
      kind: 'chunk',
      notificationId: this.task.message.notificationId,
      appId: this.task.appId,
      platformId: this.task.platformId,
      groupNumber: this.task.groupNumber,
      epoch: this.task.epoch,
      blocks,
      counts: tally.counts,
      reasons: [...tally.reasons],
      retries: tally.retries,
      deadTokens: tally.deadTokens,
      fault: tally.counts.total > 0 ? this.context.control.fault : null,
      sends: tally.sends,
      sentFromMs: tally.sentFromMs,
      sentToMs: tally.sentToMs,
      releaseAfterMs,
    };
  }
}
