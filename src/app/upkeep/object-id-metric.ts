/** The metric of the ids of tags, groups and apps, which housekeeping counts. */

import type { Metric } from '../../telemetry/metric.ts';
import { known } from '../../telemetry/metric.ts';

/** `read`: null while it is not known. */
export const objectIdMetric = (read: () => number | null): Metric => ({
  type: 'gauge',
  name: 'tagcast_object_ids_used_ratio',
  help: 'Share of all ids of tags, groups and apps that is given out, as of the last hour. At 1 none can be made any more; warn at 0.5: `object_ids_drawn` in `clients` says who makes so many.',
  read: () => known(read()),
});
