/** Metrics of the tag index: how it is in Redis, and who resolves the device groups. */

import type { Metric } from '../telemetry/metric.ts';
import { known, seriesBy } from '../telemetry/metric.ts';
import type { ResolveReading } from './resolve-meter.ts';

export interface IndexReading {
  readonly isReachable: boolean;
  /** Device groups whose entry is known to be older than the database. */
  readonly groupsWaiting: number;
  /** Device groups repaired since the start. */
  readonly groupsRepaired: number;
}

/** Without an index in Redis there are none of these. */
export const redisMetrics = (read: () => IndexReading): readonly Metric[] => [
  {
    type: 'gauge',
    name: 'tagcast_index_reachable',
    help: '1: Redis answers this process; 0: tags are resolved from PostgreSQL. This and the next two are present only with Redis.',
    read: () => known(Number(read().isReachable)),
  },
  {
    type: 'gauge',
    name: 'tagcast_index_groups_waiting',
    help: 'Groups of the index that are older than PostgreSQL and wait to be repaired by this process. It stays above 0 when nothing can be written to Redis.',
    read: () => known(read().groupsWaiting),
  },
  {
    type: 'counter',
    name: 'tagcast_index_groups_repaired_total',
    help: 'Groups read from PostgreSQL into Redis by this process. More than a few after a fault is over is worth a look.',
    read: () => known(read().groupsRepaired),
  },
];

export const resolveMetrics = (read: () => ResolveReading): readonly Metric[] => [
  {
    type: 'histogram',
    name: 'tagcast_index_resolve_seconds',
    help: 'Time to find the devices of a group that have the tags, by `redis` or `database`; its count is the number of groups. Without Redis all are of `database`.',
    labels: ['source'],
    read() {
      const { redisSeconds, databaseSeconds } = read();
      return seriesBy('source', { redis: redisSeconds, database: databaseSeconds });
    },
  },
  {
    type: 'counter',
    name: 'tagcast_index_fallbacks_total',
    help: 'Groups that PostgreSQL resolved because Redis did not answer (`unavailable`) or could not prove that it is current (`stale`). Without Redis both stay 0.',
    labels: ['reason'],
    read() {
      const { unavailable, stale } = read();
      return seriesBy('reason', { unavailable, stale });
    },
  },
];
