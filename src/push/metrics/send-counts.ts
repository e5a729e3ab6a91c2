/** Counts sends as their reports are recorded. */

import { PLATFORM_IDS } from '../../domain/device.ts';
import type { Progress } from '../../domain/progress.ts';
import { FINAL_KINDS } from '../../domain/progress.ts';
import { LabelledCounter } from '../../telemetry/labelled-counter.ts';
import type { Metric } from '../../telemetry/metric.ts';

/** Series exist before the first send: Prometheus sees no increase where one begins. */
export class SendCounts {
  readonly #sends = new LabelledCounter({
    name: 'tagcast_sends_total',
    help: 'Sends that ended for good, recorded by this process: `delivered`, `failed`, `skipped`, `expired` or `cancelled`.',
    labels: ['platform', 'outcome'],
  });
  readonly #retries = new LabelledCounter({
    name: 'tagcast_retries_total',
    help: 'Sends that were put off to a later time: to be tried again, or not begun when their part was given back.',
    labels: ['platform'],
  });
  readonly #partFailures = new LabelledCounter({
    name: 'tagcast_part_failures_total',
    help: 'Parts of push jobs that failed by a fault of ours or of the database: `given-back`, so claimed again, or `parked`.',
    labels: ['result'],
  });
  readonly #heldDeletions = new LabelledCounter({
    name: 'tagcast_held_deletions_total',
    help: 'Devices reported dead that are not erased before an operator decides.',
    labels: ['platform'],
  });

  readonly #withheld = new LabelledCounter({
    name: 'tagcast_withheld_total',
    help: 'Devices that a cap of their client left out of a push job, recorded by this process.',
    labels: ['platform'],
  });

  constructor() {
    for (const result of ['given-back', 'parked']) this.#partFailures.with({ result });
    for (const platform of PLATFORM_IDS.map(String)) {
      this.#retries.with({ platform });
      this.#withheld.with({ platform });
      for (const outcome of FINAL_KINDS) this.#sends.with({ platform, outcome });
    }
  }

  get metrics(): readonly Metric[] {
    return [this.#sends, this.#withheld, this.#heldDeletions, this.#retries, this.#partFailures];
  }

  /** Counts a report that was recorded: sends by their final outcome, and those put off. */
  note(report: Progress): void {
    const platform = String(report.platformId);
    if (report.failure !== undefined) {
      const result = report.isParked === true ? 'parked' : 'given-back';
      this.#partFailures.with({ result }).value += 1;
    }
    switch (report.kind) {
      case 'chunk':
        for (const outcome of FINAL_KINDS) {
          this.#sends.with({ platform, outcome }).value += report.counts[outcome];
        }
        this.#retries.with({ platform }).value += report.retries.length;
        this.#withheld.with({ platform }).value += report.places?.withheld?.devices ?? 0;
        return;
      case 'retries':
        for (const { ending } of report.settlements) {
          const counter =
            ending === null
              ? this.#retries.with({ platform })
              : this.#sends.with({ platform, outcome: ending });
          counter.value += 1;
        }
    }
  }

  noteHeld(platformId: number, devices: number): void {
    this.#heldDeletions.with({ platform: String(platformId) }).value += devices;
  }
}
