/**
 * Remembers what sends have told of living devices: where its provider took a token, and that one
 * is taken again. It happens after their outcomes are recorded and outside of that transaction:
 * what is lost by a crash in between the next send finds again.
 */

import type { Logger } from 'pino';
import type { Progress } from '../domain/progress.ts';
import { noteDeliveries } from '../store/devices/note-deliveries.ts';
import type { SqlPool } from '../store/sql.ts';
import type { IndexFeed } from '../tag-index/tag-index.ts';

export interface NewsContext {
  readonly sql: SqlPool;
  readonly feed: IndexFeed;
  readonly log: Logger;
}

export async function rememberNews(
  { sql, feed, log }: NewsContext,
  reports: readonly Progress[],
): Promise<void> {
  const deliveries = reports.flatMap(({ appId, platformId, news }) =>
    news.flatMap((entry) => {
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
