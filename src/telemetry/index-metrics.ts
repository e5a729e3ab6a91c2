/** Metrics of the tag index in Redis: they exist only if Redis is used. */

import type { Registry } from 'prom-client';
import { readCounter, readGauge } from './read-metrics.ts';

/** The state of the index, as this process sees it. */
export interface IndexReading {
  readonly isReachable: boolean;
  /** Device groups that are known to be behind the database. */
  readonly groupsWaiting: number;
  /** Device groups repaired since the start. */
  readonly groupsRepaired: number;
}

/** Calls `read` whenever the metrics are read. */
export function registerIndexMetrics(registry: Registry, read: () => IndexReading): void {
  readGauge(
    registry,
    {
      name: 'tagcast_index_reachable',
      help: '1: Redis answers this process; 0: tags are resolved from PostgreSQL. This and the next two are present only with Redis.',
    },
    () => [[{}, Number(read().isReachable)]],
  );
  readGauge(
    registry,
    {
      name: 'tagcast_index_groups_waiting',
      help: 'Groups behind PostgreSQL that wait to be repaired by this process. It stays above 0 when nothing can be written to Redis.',
    },
    () => [[{}, read().groupsWaiting]],
  );
  readCounter(
    registry,
    {
      name: 'tagcast_index_groups_repaired_total',
      help: 'Groups read from PostgreSQL into Redis by this process. More than a few after a fault is over is worth a look.',
    },
    () => [[{}, read().groupsRepaired]],
  );
}
