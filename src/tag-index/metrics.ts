/** Metrics of the tag index: how it is in Redis, and who resolves the device groups. */

import type { Metric } from '../telemetry/metric.ts';
import { known, seriesBy } from '../telemetry/metric.ts';
import type { ResolveReading } from './resolve-meter.ts';

/** The state of the index in Redis, as this process sees it. */
export interface IndexReading {
  readonly isReachable: boolean;
  /** Device groups that are known to be behind the database. */
  readonly groupsWaiting: number;
  /** Device groups repaired since the start. */
  readonly groupsRepaired: number;
}

/** Without an index in Redis there are none of these. */
export const redisMetrics = (read: () => IndexReading): readonly Metric[] => [
  {
    type: 'gauge',
    name: 'tagcast_index_reachable',
    help: 'Whether Redis answers; without it tags are resolved from the database.',
    read: () => known(Number(read().isReachable)),
  },
  {
    type: 'gauge',
    name: 'tagcast_index_groups_waiting',
    help: 'Groups behind the database that wait to be repaired.',
    read: () => known(read().groupsWaiting),
  },
  {
    type: 'counter',
    name: 'tagcast_index_groups_repaired_total',
    help: 'Groups read from the database into the index.',
    read: () => known(read().groupsRepaired),
  },
];

export const resolveMetrics = (read: () => ResolveReading): readonly Metric[] => [
  {
    type: 'histogram',
    name: 'tagcast_index_resolve_seconds',
    help: 'Time to find the devices of a group that have the tags.',
    labels: ['source'],
    read() {
      const { redisSeconds, databaseSeconds } = read();
      return seriesBy('source', { redis: redisSeconds, database: databaseSeconds });
    },
  },
  {
    type: 'counter',
    name: 'tagcast_index_fallbacks_total',
    help: 'Groups that the database resolved because Redis could not.',
    labels: ['reason'],
    read() {
      const { unavailable, stale } = read();
      return seriesBy('reason', { unavailable, stale });
    },
  },
];
