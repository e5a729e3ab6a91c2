/** Work that waits in the database, as of the last time that somebody asked, for the metrics. */

import type { Sql } from '../../database/sql.ts';
import type { QueueReading } from '../../push/sql/read-queue.ts';
import { readQueue } from '../../push/sql/read-queue.ts';
import { LastKnown } from '../../std/last-known.ts';
import type { WaitingWebhooks } from '../../webhooks/sql/read-waiting.ts';
import { readWaitingWebhooks } from '../../webhooks/sql/read-waiting.ts';

/**
 * Every node counts as often as it is scraped, and so many say enough.
 * @limit jobs, chunks, retries that the metrics count, each → the number stays
 */
const BACKLOG_COUNTED_MAX = 10_000;
/**
 * Longer than between two scrapes.
 * @limit the age at which such a count is not reported any more → the series are absent
 */
const BACKLOG_AGE_MS_MAX = 120_000;

export const createBacklog = (sql: Sql): LastKnown<QueueReading> =>
  new LastKnown({
    ask: () => readQueue(sql, BACKLOG_COUNTED_MAX),
    ageMsMax: BACKLOG_AGE_MS_MAX,
  });

export const createWebhookBacklog = (sql: Sql): LastKnown<WaitingWebhooks> =>
  new LastKnown({
    ask: () => readWaitingWebhooks(sql, BACKLOG_COUNTED_MAX),
    ageMsMax: BACKLOG_AGE_MS_MAX,
  });
