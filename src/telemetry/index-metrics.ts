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
      help: 'Whether Redis answers; without it tags are resolved from the database.',
    },
    () => [[{}, Number(read().isReachable)]],
  );
  readGauge(
    registry,
    {
      name: 'tagcast_index_groups_waiting',
      help: 'Groups behind the database that wait to be repaired.',
    },
    () => [[{}, read().groupsWaiting]],
  );
  readCounter(
    registry,
    {
      name: 'tagcast_index_groups_repaired_total',
      help: 'Groups read from the database into the index.',
    },
    () => [[{}, read().groupsRepaired]],
  );
}
