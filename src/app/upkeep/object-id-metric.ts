/** The metric of the ids of tags, groups and apps, which housekeeping counts. */

import type { Metric } from '../../telemetry/metric.ts';
import { known } from '../../telemetry/metric.ts';

/** `read`: null while it is not known. */
export const objectIdMetric = (read: () => number | null): Metric => ({
  type: 'gauge',
  name: 'tagcast_object_ids_used_ratio',
  help: 'Share of the ids of tags, groups and apps that is used: at 1 no more can be created.',
  read: () => known(read()),
});
