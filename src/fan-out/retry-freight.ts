/** A batch of retries as freight of a courier, and as reports to the ledger. */

import type { Outcome } from '../domain/outcome.ts';
import type { DeadToken, RetryProgress, RetrySettlement } from '../domain/progress.ts';
import type { Freight } from './courier.ts';
import { judge } from './delivery.ts';
import type { Ending } from './ending.ts';
import { SKIPPED } from './ending.ts';
import type { RunContext } from './run-context.ts';
import type { RetryTask } from './task.ts';

export class RetryFreight implements Freight {
  /** Each retry stands for itself: it can be stopped anywhere. */
  readonly isAtBoundary = true;
  private readonly task: RetryTask;
  private readonly context: RunContext;
  private readonly present: ReadonlyMap<number, string>;
  private readonly onProgress: () => void;
  private cursor = 0;
  private settlements: RetrySettlement[] = [];
  private deadTokens: DeadToken[] = [];
  private sends = 0;
  private sentFromMs: number | null = null;
  private sentToMs: number | null = null;

  /** `present`: the devices, by ordinal, that still exist and still match. */
  constructor(
    task: RetryTask,
    context: RunContext,
    present: ReadonlyMap<number, string>,
    onProgress: () => void,
  ) {
    this.task = task;
    this.context = context;
    this.present = present;
    this.onProgress = onProgress;
    this.skipAbsent();
  }

  get next(): number | null {
    return this.cursor < this.task.ordinals.length ? this.cursor : null;
  }

  deviceIdAt(position: number): string {
    const deviceId = this.present.get(this.rowAt(position).ordinal);
    if (deviceId === undefined) throw new RangeError(`no device at position ${position}`);
    return deviceId;
  }

  advance(atMs: number): void {
    this.sentFromMs ??= atMs;
    this.sentToMs = atMs;
    this.cursor += 1;
    this.skipAbsent();
  }

  settle(position: number, outcome: Outcome): void {
    const { ordinal, attempts } = this.rowAt(position);
    const { ending, deadBeforeMs } = judge(this.task, this.context, outcome, attempts);
    if (deadBeforeMs !== null) this.deadTokens.push({ ordinal, registeredBeforeMs: deadBeforeMs });
    this.sends += 1;
    this.end(position, ending);
    this.onProgress();
  }

  /** Everything not sent ends so. */
  settleRest(ending: Ending): void {
    for (; this.cursor < this.task.ordinals.length; this.cursor += 1) this.end(this.cursor, ending);
  }

  /** Everything not sent is due again after this, as it was. */
  giveBack(afterMs: number): void {
    for (; this.cursor < this.task.ordinals.length; this.cursor += 1) {
      const { ordinal, epoch, attempts } = this.rowAt(this.cursor);
      this.settlements.push({
        ordinal,
        epoch,
        ending: null,
        reason: null,
        attempts,
        dueInMs: afterMs,
      });
    }
  }

  /** What has been settled since the last report; null: nothing. */
  takeReport(): RetryProgress | null {
    if (this.settlements.length === 0) return null;
    const report: RetryProgress = {
      kind: 'retries',
      notificationId: this.task.message.notificationId,
      appId: this.task.appId,
      platformId: this.task.platformId,
      settlements: this.settlements,
      deadTokens: this.deadTokens,
      fault: this.context.control.fault,
      sends: this.sends,
      sentFromMs: this.sentFromMs,
      sentToMs: this.sentToMs,
    };
    this.settlements = [];
    this.deadTokens = [];
    this.sends = 0;
    return report;
  }

  private skipAbsent(): void {
    for (; this.cursor < this.task.ordinals.length; this.cursor += 1) {
      if (this.present.has(this.rowAt(this.cursor).ordinal)) return;
      this.end(this.cursor, SKIPPED);
    }
  }

  private end(position: number, ending: Ending): void {
    const { ordinal, epoch, attempts } = this.rowAt(position);
    this.settlements.push(
      ending.kind === 'retry'
        ? { ...ending, ordinal, epoch, ending: null }
        : { ordinal, epoch, ending: ending.kind, reason: ending.reason, attempts, dueInMs: 0 },
    );
  }

  private rowAt(position: number): { ordinal: number; epoch: number; attempts: number } {
    const ordinal = this.task.ordinals[position];
    const epoch = this.task.epochs[position];
    const attempts = this.task.attempts[position];
    if (ordinal === undefined || epoch === undefined || attempts === undefined) {
      throw new RangeError(`no retry at position ${position}`);
    }
    return { ordinal, epoch, attempts };
  }
}
