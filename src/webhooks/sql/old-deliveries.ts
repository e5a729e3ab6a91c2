/** Deletes data of webhooks that is too old, too much, or belongs to no webhook any more. */

import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import { firstUuidAt } from '../../domain/uuid-v7.ts';

/** The next webhooks after `afterId`, by their ids. */
export async function nextWebhooks(
  sql: Sql,
  afterId: number,
  limit: number,
): Promise<readonly number[]> {
  const rows = await sql<{ id: number }[]>`
    select id from webhooks where id > ${afterId} order by id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Deletes a webhook's oldest events above `eventsMax`, and counts them in it; at most `limit`. */
export const trimWebhookEvents = (
  sql: SqlPool,
  webhookId: number,
  eventsMax: number,
  limit: number,
): Promise<number> =>
  transact(sql, async (tx) => {
    const deleted = await tx`
      delete from webhook_events where id = any (array(
        select id from webhook_events
        where webhook_id = ${webhookId} and id <= (
          select id from webhook_events where webhook_id = ${webhookId} order by id desc offset ${eventsMax} limit 1
        )
        order by id limit ${limit}
      ))`;
    const { count } = deleted;
    if (count > 0) {
      await tx`update webhooks set dropped_events = dropped_events + ${count} where id = ${webhookId}`;
    }
    return count;
  });

/**
 * Deletes deliveries of a webhook that were made before a time, or that are older than its newest
 * `deliveriesMax`, also if they are pending. Answers how many, at most `limit`.
 */
export async function deleteOldDeliveries(
  sql: Sql,
  webhookId: number,
  { beforeMs, deliveriesMax }: { readonly beforeMs: number; readonly deliveriesMax: number },
  limit: number,
): Promise<number> {
  const deleted = await sql`
    delete from webhook_deliveries where id = any (array(
      select id from webhook_deliveries
      where webhook_id = ${webhookId} and id <= greatest(${firstUuidAt(beforeMs)}::uuid, (
        select id from webhook_deliveries where webhook_id = ${webhookId} order by id desc offset ${deliveriesMax} limit 1
      ))
      order by id limit ${limit}
    ))`;
  return deleted.count;
}

/** Deletes events whose webhook was deleted. Answers how many, at most `limit`. */
export async function deleteLeftEvents(sql: Sql, limit: number): Promise<number> {
  const deleted = await sql`
    delete from webhook_events where id = any (array(
      select id from webhook_events where webhook_id = any (array(
        -- From one webhook to the next: most events are of webhooks that are there.
        with recursive told (webhook_id) as (
          (select min(webhook_id) from webhook_events)
          union all
          select (select min(webhook_id) from webhook_events e where e.webhook_id > t.webhook_id)
          from told t where t.webhook_id is not null
        )
        select webhook_id from told t where not exists (select from webhooks where id = t.webhook_id)
      ))
      order by id limit ${limit}
    ))`;
  return deleted.count;
}
