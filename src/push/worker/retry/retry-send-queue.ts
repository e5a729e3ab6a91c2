/** A batch of retries as a send queue for the send loop, and as reports to the ledger. */

import type { DeviceToken } from '../../../domain/device.ts';
import type { DeviceHistory } from '../../../domain/device-group-change.ts';
import type { Outcome } from '../../../domain/outcome.ts';
import type {
  DeviceObservation,
  RetryProgress,
  RetrySettlement,
  Wait,
} from '../../../domain/progress.ts';
import type { PresentDevices } from '../../../tag-index/tag-index.ts';
import { isTooLate } from '../../protocol/deadlines.ts';
import type { RetryTask } from '../../protocol/task.ts';
import type { RunContext } from '../run-context.ts';
import { judge } from '../send/delivery.ts';
import type { Ending } from '../send/ending.ts';
import { EXPIRED, mayHaveArrived, outcomeUnknown, SKIPPED } from '../send/ending.ts';
import { FailureNotes } from '../send/failure-notes.ts';
import type { Release, SendQueue } from '../send/send-loop.ts';
import { waitIn } from '../send/send-loop.ts';
import { mayLieInScope } from '../small-reach.ts';

export class RetrySendQueue implements SendQueue {
  /** Retries do not depend on each other: the batch can be stopped anywhere. */
  readonly isAtBoundary = true;
  /** The lease of a retry's row already shows that it may have been sent. */
  readonly isNextCleared = true;
  private readonly task: RetryTask;
  private readonly context: RunContext;
  private readonly present: PresentDevices;
  private readonly failures = new FailureNotes();
  private readonly onProgress: () => void;
  private cursor = 0;
  /** Devices that were tried before have expired; the others may still be sent to. */
  private isLate = false;
  private wait: { readonly waitingFor?: Wait } = {};
  private settlements: RetrySettlement[] = [];
  private observations: DeviceObservation[] = [];
  private sends = 0;
  private sentFromMs: number | null = null;
  private sentToMs: number | null = null;

  /** `present`: the devices that still exist and still match. */
  constructor(
    task: RetryTask,
    context: RunContext,
    present: PresentDevices,
    onProgress: () => void,
  ) {
    this.task = task;
    this.context = context;
    this.present = present;
    this.onProgress = onProgress;
    this.skipUnsendable();
  }

  get size(): number {
    return this.task.ordinals.length;
  }

  get next(): number | null {
    return this.cursor < this.task.ordinals.length ? this.cursor : null;
  }

  deviceIdAt(position: number): DeviceToken {
    const deviceId = this.present.deviceIds.get(this.rowAt(position).ordinal);
    if (deviceId === undefined) throw new RangeError(`no device at position ${position}`);
    return deviceId;
  }

  historyAt(position: number): DeviceHistory | null {
    return this.present.histories.get(this.rowAt(position).ordinal) ?? null;
  }

  languageAt(position: number): number {
    return this.present.languages?.get(this.rowAt(position).ordinal) ?? 0;
  }

  advance(atMs: number): void {
    this.sentFromMs ??= atMs;
    this.sentToMs = atMs;
    this.cursor += 1;
    this.skipUnsendable();
  }

  settle(position: number, outcome: Outcome): void {
    const { ordinal, attempts } = this.rowAt(position);
    const device = { ordinal, attempts, history: this.historyAt(position) };
    const { ending, observation } = judge(this.task, this.context, outcome, device);
    if (observation !== null) this.observations.push(observation);
    this.failures.note(ordinal, ending);
    this.sends += 1;
    this.end(position, ending);
    this.onProgress();
  }

  endLate(atMs: number): void {
    if (this.isLate || !isTooLate(this.task, atMs)) return;
    this.isLate = true;
    this.skipUnsendable();
    this.onProgress();
  }

  /** Gives this ending to all unsent devices. */
  settleRest(ending: Ending): void {
    for (; this.cursor < this.task.ordinals.length; this.cursor += 1) this.end(this.cursor, ending);
  }

  /** Makes unsent devices due again after the release's wait, or ends them if that is too late. */
  giveBack(release: Release): void {
    this.wait = waitIn(release);
    for (; this.cursor < this.task.ordinals.length; this.cursor += 1) {
      const { ordinal, epoch, attempts } = this.rowAt(this.cursor);
      if (this.isLate && attempts > 0) {
        this.end(this.cursor, EXPIRED);
        continue;
      }
      this.settlements.push({
        ordinal,
        epoch,
        ending: null,
        reason: null,
        attempts,
        dueInMs: release.afterMs,
        isUncertain: false,
        isReached: false,
      });
    }
  }

  /** Reports the devices settled since the last report. Null: none. */
  takeReport(): RetryProgress | null {
    if (this.settlements.length === 0) return null;
    const report: RetryProgress = {
      kind: 'retries',
      notificationId: this.task.message.notificationId,
      appId: this.task.appId,
      platformId: this.task.platformId,
      settlements: this.settlements,
      ...(mayLieInScope(this.task, this.size) ? { isReachedInScope: true } : {}),
      ...(this.task.caps === null ? {} : { isCapped: true }),
      observations: this.observations,
      ...this.failures.take(),
      fault: this.context.control.fault,
      sends: this.sends,
      sentFromMs: this.sentFromMs,
      sentToMs: this.sentToMs,
      ...this.wait,
    };
    this.settlements = [];
    this.observations = [];
    this.sends = 0;
    return report;
  }

  /** Ends devices that are gone, or may not be tried again; at most once: also lost ones. */
  private skipUnsendable(): void {
    for (; this.cursor < this.task.ordinals.length; this.cursor += 1) {
      const { ordinal, attempts } = this.rowAt(this.cursor);
      if (this.task.isAtMostOnce && this.task.wereLost[this.cursor]) {
        this.end(this.cursor, outcomeUnknown('the process that sent it was lost'));
      } else if (!this.present.deviceIds.has(ordinal)) this.end(this.cursor, SKIPPED);
      else if (this.isLate && attempts > 0) this.end(this.cursor, EXPIRED);
      else return;
    }
  }

  private end(position: number, ending: Ending): void {
    const { ordinal, epoch, attempts } = this.rowAt(position);
    this.settlements.push(
      ending.kind === 'retry'
        ? { ...ending, ordinal, epoch, ending: null, isReached: ending.isUncertain }
        : {
            ordinal,
            epoch,
            ending: ending.kind,
            reason: ending.reason,
            attempts,
            dueInMs: 0,
            isUncertain: false,
            isReached: mayHaveArrived(ending),
          },
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
