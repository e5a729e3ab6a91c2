/** Notes the devices whose sends have failed; reports carry the notes. */

import type { DeviceFailure } from '../../../domain/progress.ts';
import type { Ending } from './ending.ts';

/**
 * When more fail, the status counts say more than any one of them.
 * @limit failed devices that are noted, of a part of a send → counted only
 */
const FAILURES_PER_TASK_MAX = 100;

interface Told {
  readonly failures?: readonly DeviceFailure[];
}

const NONE: Told = {};

export class FailureNotes {
  private failures: DeviceFailure[] = [];
  private count = 0;

  note(ordinal: number, { kind, reason }: Ending): void {
    if (kind !== 'failed' || reason === null || this.count === FAILURES_PER_TASK_MAX) return;
    this.count += 1;
    this.failures.push({ ordinal, reason });
  }

  /** Those since the last call, for the next report. */
  take(): Told {
    if (this.failures.length === 0) return NONE;
    const told = { failures: this.failures };
    this.failures = [];
    return told;
  }
}
