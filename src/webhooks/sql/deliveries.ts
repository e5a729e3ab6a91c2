/** The deliveries of a webhook: listed, and put into the line again. */

import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type { DeliveryState } from '../../domain/webhook.ts';

interface ListedDelivery {
  readonly id: string;
  readonly state: DeliveryState;
  readonly eventCount: number;
  readonly attempts: number;
  readonly createdAt: number;
  /** Null: there was none yet. */
  readonly lastAttemptAt: number | null;
  /** Null: it is not pending. */
  readonly nextAttemptAt: number | null;
  /** The status of the answer to the last attempt. Null: there was no answer. */
  readonly status: number | null;
  /** Why the last attempt failed. Null: it did not. */
  readonly fault: string | null;
}

interface DeliveriesToList {
  /** Null: whichever. */
  readonly state: DeliveryState | null;
  /** The last one of the page before; null: the first page. */
  readonly before: string | null;
  readonly limit: number;
}

export const listDeliveries = (
  sql: Sql,
  webhookId: number,
  { state, before, limit }: DeliveriesToList,
): Promise<readonly ListedDelivery[]> =>
  sql<ListedDelivery[]>`
    select id, state, event_count as "eventCount", attempts, status, fault,
      floor(extract(epoch from created_at) * 1000)::float8 as "createdAt",
      floor(extract(epoch from last_attempt_at) * 1000)::float8 as "lastAttemptAt",
      case when state = 'pending' then floor(extract(epoch from due_at) * 1000)::float8 end as "nextAttemptAt"
    from webhook_deliveries
    where webhook_id = ${webhookId}
      ${before === null ? sql`` : sql`and id < ${before}::uuid`}
      ${state === null ? sql`` : sql`and state = ${state}`}
    order by id desc limit ${limit}::integer`;

/**
 * Puts deliveries into the line again that have ended: those of these ids, or with null the dead
 * ones. Answers how many.
 */
export async function replayDeliveries(
  tx: Sql,
  webhookId: number,
  ids: readonly string[] | null,
): Promise<number> {
  // The webhook first, as the record of an attempt does.
  await tx`update webhooks set not_before = now(), failures = 0 where id = ${webhookId} and failures > 0`;
  const replayed = await tx`
    update webhook_deliveries set state = 'pending', attempts = 0, due_at = now()
    where webhook_id = ${webhookId} and
      ${ids === null ? tx`state = 'dead'` : tx`state <> 'pending' and id = any (${list(ids)}::uuid[])`}`;
  return replayed.count;
}
