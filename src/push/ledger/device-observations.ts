/**
 * Stores what sends observed of devices, outside of the transaction that records their outcomes: an
 * observation lost in a crash is made again by the next send.
 */

import type { Logger } from 'pino';
import type { SqlPool } from '../../database/sql.ts';
import { noteDeliveries } from '../../devices/note-deliveries.ts';
import type { Progress } from '../../domain/progress.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';

interface ObservationContext {
  readonly sql: SqlPool;
  readonly feed: IndexFeed;
  readonly log: Logger;
}

export async function rememberObservations(
  { sql, feed, log }: ObservationContext,
  reports: readonly Progress[],
): Promise<void> {
  const deliveries = reports.flatMap(({ appId, platformId, observations }) =>
    observations.flatMap((entry) => {
      if (entry.kind !== 'moved' && entry.kind !== 'restored') return [];
      const environment = entry.kind === 'moved' ? entry.environment : null;
      return { appId, platformId, ordinal: entry.ordinal, environment };
    }),
  );
  if (deliveries.length === 0) return;
  try {
    await feed.apply(await noteDeliveries(sql, deliveries));
  } catch (error) {
    log.warn(
      { err: error, devices: deliveries.length },
      'observations of devices could not be stored',
    );
  }
}
