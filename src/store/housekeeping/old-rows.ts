/** Deletes rows whose time is over. */

import type { Sql } from '../sql.ts';

/** Tags deleted before a time that have no subscriptions left, with their days. Answers how many. */
export async function deleteDeletedTags(sql: Sql, deletedBeforeMs: number): Promise<number> {
  const deleted = await sql`
    with gone as (
      delete from tags t
      where t.deleted_at < to_timestamp(${deletedBeforeMs}::float8 / 1000)
        and not exists (
          select from apps a
          join app_platforms p on p.app_id = a.id
          join subscriptions s on s.app_id = p.app_id and s.platform_id = p.platform_id and s.tag_id = t.id
          where a.client_id = t.client_id
        )
      returning id
    ),
    days as (delete from tag_days where tag_id in (select id from gone))
    select id from gone`;
  return deleted.length;
}

/** Answers how many, at most `limit`. */
export async function deleteIdempotencyKeys(
  sql: Sql,
  createdBeforeMs: number,
  limit: number,
): Promise<number> {
  const deleted = await sql`
    delete from idempotency_keys where (client_id, key) in (
      select client_id, key from idempotency_keys
      where created_at < to_timestamp(${createdBeforeMs}::float8 / 1000)
      order by created_at limit ${limit}
    )`;
  return deleted.count;
}

/** Answers how many, at most `limit`. */
export async function deleteTagDays(sql: Sql, beforeMs: number, limit: number): Promise<number> {
  const deleted = await sql`
    delete from tag_days where ctid = any (array(
      select ctid from tag_days
      where day < (to_timestamp(${beforeMs}::float8 / 1000) at time zone 'utc')::date
      limit ${limit}
    ))`;
  return deleted.count;
}

/** Tokens that nobody has made or refused for so long: their credential is gone. Answers how many, at most `limit`. */
export async function deleteProviderTokens(
  sql: Sql,
  unusedForMs: number,
  limit: number,
): Promise<number> {
  const deleted = await sql`
    delete from provider_tokens where identity in (
      select identity from provider_tokens
      where touched_at < now() - make_interval(secs => ${unusedForMs}::float8 / 1000)
      order by touched_at limit ${limit}
    )`;
  return deleted.count;
}

/** Nodes that have been dead for so long. Answers how many, at most `limit`. */
export async function deleteDeadNodes(sql: Sql, deadForMs: number, limit: number): Promise<number> {
  const deleted = await sql`
    delete from nodes where id in (
      select id from nodes
      where died_at < now() - make_interval(secs => ${deadForMs}::float8 / 1000)
      order by id limit ${limit}
    )`;
  return deleted.count;
}

/** Buckets that nobody drew from for so long: they would be full and at the bottom of their ramp, as new ones are. */
export async function deleteQuotas(sql: Sql, unusedForMs: number, limit: number): Promise<number> {
  const deleted = await sql`
    delete from provider_quotas where key in (
      select key from provider_quotas
      where greatest(refilled_at, paused_until) < now() - make_interval(secs => ${unusedForMs}::float8 / 1000)
      limit ${limit}
    )`;
  return deleted.count;
}
