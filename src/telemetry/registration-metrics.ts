/** Metrics of the batches in which registrations are committed. */

import type { Registry } from 'prom-client';
import type { HistogramReading } from '../std/histogram.ts';
import { readHistogram } from './read-metrics.ts';

export interface RegistrationReading {
  readonly batchSeconds: HistogramReading;
  readonly batchOperations: HistogramReading;
}

/** Calls `read` whenever the metrics are read. */
export function registerRegistrationMetrics(
  registry: Registry,
  read: () => RegistrationReading,
): void {
  readHistogram(
    registry,
    {
      name: 'tagcast_registration_batch_seconds',
      help: 'Time to commit a batch of registrations and to bring it to the index.',
    },
    () => [[{}, read().batchSeconds]],
  );
  readHistogram(
    registry,
    { name: 'tagcast_registration_batch_operations', help: 'Operations of a batch.' },
    () => [[{}, read().batchOperations]],
  );
}
