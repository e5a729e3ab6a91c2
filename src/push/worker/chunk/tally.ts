/** Sums of endings: of a block while it is being sent, and of a report. */

import type { Counts } from '../../../domain/notification.ts';
import type { DeviceObservation, NewRetry } from '../../../domain/progress.ts';
import type { Ending } from '../send/ending.ts';

export class Tally {
  readonly counts: { -readonly [Name in keyof Counts]: number } = {
    total: 0,
    delivered: 0,
    failed: 0,
    skipped: 0,
    expired: 0,
    cancelled: 0,
  };
  readonly reasons = new Map<string, number>();
  readonly retries: NewRetry[] = [];
  readonly observations: DeviceObservation[] = [];
  /** Devices handed to the provider, and the times of the first and last (epoch milliseconds). */
  sends = 0;
  sentFromMs: number | null = null;
  sentToMs: number | null = null;
  /** Endings that must be reported: final ones, and sends whose outcome is not known. */
  private kept = 0;

  /** Whether all of it may be dropped, as if nothing had been sent. */
  get mayCountAsUnsent(): boolean {
    return this.kept === 0;
  }

  /** Whether nothing but devices that are there no more have come to it. */
  get isOfGone(): boolean {
    return this.sends === 0 && this.counts.total === this.counts.skipped && this.kept === 0;
  }

  sent(atMs: number): void {
    this.sends += 1;
    this.sentFromMs ??= atMs;
    this.sentToMs = atMs;
  }

  /** A device that is there no more: nothing was to be sent to it. */
  skip(): void {
    this.counts.total += 1;
    this.counts.skipped += 1;
  }

  add(ordinal: number, ending: Ending): void {
    this.counts.total += 1;
    if (ending.kind === 'retry') {
      if (!ending.mayCountAsUnsent) this.kept += 1;
      const { reason, dueInMs, attempts, isUncertain } = ending;
      this.retries.push({ ordinal, reason, dueInMs, attempts, isUncertain });
      return;
    }
    this.kept += 1;
    this.counts[ending.kind] += 1;
    if (ending.reason !== null) addTo(this.reasons, ending.reason, 1);
  }

  merge(other: Tally): void {
    for (const name of COUNT_NAMES) this.counts[name] += other.counts[name];
    for (const [reason, count] of other.reasons) addTo(this.reasons, reason, count);
    for (const retry of other.retries) this.retries.push(retry);
    for (const entry of other.observations) this.observations.push(entry);
    this.sends += other.sends;
    this.sentFromMs = lesser(this.sentFromMs, other.sentFromMs);
    this.sentToMs = greater(this.sentToMs, other.sentToMs);
  }
}

const COUNT_NAMES: readonly (keyof Counts)[] = [
  'total',
  'delivered',
  'failed',
  'skipped',
  'expired',
  'cancelled',
];

export const lesser = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

export const greater = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);

const addTo = (counts: Map<string, number>, reason: string, count: number): void => {
  counts.set(reason, (counts.get(reason) ?? 0) + count);
};
