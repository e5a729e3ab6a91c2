/** Metrics of the batches in which registrations are committed. */

import type { Registry } from 'prom-client';
import type { HistogramReading } from '../std/histogram.ts';
import { readHistogram } from './read-metrics.ts';

/** The batches of a stage. */
export interface RegistrationReading {
  readonly stage: 'look' | 'write';
  readonly seconds: HistogramReading;
  readonly operations: HistogramReading;
}

/** Calls `read` whenever the metrics are read. */
export function registerRegistrationMetrics(
  registry: Registry,
  read: () => readonly RegistrationReading[],
): void {
  readHistogram(
    registry,
    {
      name: 'tagcast_registration_batch_seconds',
      help: 'Time to look what a batch of registrations changes (`look`), or to commit it and bring it to the index (`write`).',
    },
    () => read().map(({ stage, seconds }) => [{ stage }, seconds]),
  );
  readHistogram(
    registry,
    {
      name: 'tagcast_registration_batch_operations',
      help: 'Operations of a batch of registrations. The more there are, the larger are the batches.',
    },
    () => read().map(({ stage, operations }) => [{ stage }, operations]),
  );
}
