/**
 * Notices that the database's clock was set back, and shortens the waits written while it was
 * ahead. The newest time seen is a row: a restart changes nothing, and one node corrects. A time
 * moves back by as much as the clock, never before now; a publisher's own times stay.
 */

import type { Sql, SqlPool } from '../sql.ts';
import { transact } from '../transact.ts';

/**
 * Less is a clock that is disciplined, or another server of the same database.
 * @limit the database's clock set back, noticed → waits are no longer than that
 */
export const SET_BACK_MS_MIN = 5_000;

/** The columns that say until when something waits, or since when it is counted. */
const WAITS: Readonly<Record<string, readonly string[]>> = {
  chunks: ['available_at', 'lease_until'],
  retries: ['due_at', 'lease_until'],
  notification_scopes: ['waiting_until'],
  provider_tokens: ['minting_until', 'frozen_until', 'retry_at'],
  provider_quotas: ['refilled_at', 'paused_until'],
  webhooks: ['not_before'],
  webhook_deliveries: ['due_at'],
  bulk_operations: ['due_at'],
  nodes: ['seen_at', 'beating_since'],
};

/** Answers by how many milliseconds the clock was set back since the last call; 0: it was not. */
export const noteClock = (sql: SqlPool): Promise<number> =>
  transact(sql, async (tx) => {
    const byMs = Math.max(0, await stepBack(tx));
    if (byMs < SET_BACK_MS_MIN) return 0;
    await tx`
      update notifications set send_at = now()
      where finished_at is null and send_at > now() and send_at <= accepted_at`;
    for (const [table, columns] of Object.entries(WAITS)) {
      for (const column of columns) await moveBack(tx, table, column, byMs);
    }
    return byMs;
  });

/** How far the newest time of a beat or of a provider's token lies ahead; 0: it does not. */
export async function readAheadMs(sql: Sql): Promise<number> {
  const [row] = await sql<{ aheadMs: number }[]>`
    select greatest(0, extract(epoch from greatest(
      (select max(seen_at) from nodes), (select max(minted_at) from provider_tokens)
    ) - now()) * 1000)::float8 as "aheadMs"`;
  return row?.aheadMs ?? 0;
}

/** How far the newest time that was seen lies ahead. A time that is newer takes its place. */
async function stepBack(tx: Sql): Promise<number> {
  const [row] = await tx<{ byMs: number }[]>`
    with seen as (
      select seen_at from clock_watch where id = 1 for update
    ),
    noted as (
      insert into clock_watch (id, seen_at) values (1, now())
      on conflict (id) do update set seen_at = excluded.seen_at
    )
    select (extract(epoch from seen_at - now()) * 1000)::float8 as "byMs" from seen`;
  return row?.byMs ?? 0;
}

const moveBack = (tx: Sql, table: string, column: string, byMs: number) => tx`
  update ${tx(table)}
  set ${tx(column)} = greatest(now(), ${tx(column)} - make_interval(secs => ${byMs}::float8 / 1000))
  where ${tx(column)} > now()`;
