/** Metrics of registration. */

import type { HistogramReading } from '../std/histogram.ts';
import { LabelledCounter } from '../telemetry/labelled-counter.ts';
import type { Metric } from '../telemetry/metric.ts';
import { seriesBy } from '../telemetry/metric.ts';
import type { RegistrationResult } from './operation.ts';

/** Why an operation is not committed: these series are there before it happens. */
const FAILURES = ['limit', 'refused', 'unavailable'];
/** The same, why a value is not made. */
const NO_ROOM = ['full', 'rate'];

/** Operations by how they ended, and the parameters that were ignored. */
export class DeviceCounts {
  readonly ignoredParameters = new LabelledCounter({
    name: 'tagcast_ignored_parameters_total',
    help: 'Parameters of the App API that were ignored, though the answer was `OK`. Set an alarm on it after a release of an app.',
    labels: ['field'],
  });
  readonly refusedValues = new LabelledCounter({
    name: 'tagcast_attribute_values_refused_total',
    help: 'New values of attributes of devices that were ignored: the attribute has as many as it may (`full`), or its app brought too many in a minute (`rate`).',
    labels: ['reason'],
  });
  readonly committed = new LabelledCounter({
    name: 'tagcast_registrations_total',
    help: 'Operations committed: `reg`, `ureg`, `set`, `replace` or `import`.',
    labels: ['operation'],
  });
  readonly #failures = new LabelledCounter({
    name: 'tagcast_registration_failures_total',
    help: 'Operations of `reg`, `ureg` and `set` that were not committed: their app has as many devices as it may (`limit`), the database refuses this very row (`refused`), or it cannot be reached (`unavailable`).',
    labels: ['reason'],
  });

  constructor() {
    for (const reason of FAILURES) this.#failures.with({ reason });
    for (const reason of NO_ROOM) this.refusedValues.with({ reason });
  }

  get metrics(): readonly Metric[] {
    return [this.ignoredParameters, this.refusedValues, this.committed, this.#failures];
  }

  /** Counts an operation that was not refused at once. */
  note(operation: string, result: Exclude<RegistrationResult, 'overloaded'>): void {
    switch (result) {
      case 'committed':
      case 'tags-limited':
        this.committed.with({ operation }).value += 1;
        return;
      case 'limit':
      case 'refused':
      case 'unavailable':
        this.#failures.with({ reason: result }).value += 1;
    }
  }
}

interface Batches {
  readonly seconds: { readonly reading: HistogramReading };
  readonly operations: { readonly reading: HistogramReading };
}

interface MeasuredRegistration {
  /** Operations taken and not yet answered. */
  readonly depth: number;
  readonly stages: { readonly looked: Batches; readonly written: Batches };
}

/** Operations that wait, and the batches of both stages. */
export function registrationMetrics(registration: MeasuredRegistration): readonly Metric[] {
  const { looked, written } = registration.stages;
  return [
    {
      type: 'gauge',
      name: 'tagcast_queue_depth',
      help: 'Items waiting in a queue: `registrations` are those taken and not yet answered.',
      labels: ['queue'],
      read: () => seriesBy('queue', { registrations: registration.depth }),
    },
    {
      type: 'histogram',
      name: 'tagcast_registration_batch_seconds',
      help: 'Time to look what a batch of registrations changes (`look`), or to commit it and bring it to the index (`write`).',
      labels: ['stage'],
      read: () =>
        seriesBy('stage', { look: looked.seconds.reading, write: written.seconds.reading }),
    },
    {
      type: 'histogram',
      name: 'tagcast_registration_batch_operations',
      help: 'Operations of a batch of registrations. The more there are, the larger are the batches.',
      labels: ['stage'],
      read: () =>
        seriesBy('stage', { look: looked.operations.reading, write: written.operations.reading }),
    },
  ];
}
