/** Deletes rows whose retention is over. */

import type { Sql } from '../sql.ts';

/**
 * Deletes tags that were marked deleted before a time and that no group may have any more, with
 * their days. Answers how many.
 */
export async function deleteDeletedTags(sql: Sql, deletedBeforeMs: number): Promise<number> {
  const deleted = await sql`
    with gone as (
      delete from tags t
      where t.deleted_at < to_timestamp(${deletedBeforeMs}::float8 / 1000)
        and not exists (
          select from apps a
          join app_platforms p on p.app_id = a.id
          join device_group_tags g on g.app_id = p.app_id and g.platform_id = p.platform_id and g.tag_id = t.id
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

/**
 * Adds their counts to the day -infinity, because all days of a tag together give its number of
 * subscribers. Answers how many, at most `limit`.
 */
export async function deleteTagDays(sql: Sql, beforeMs: number, limit: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    with old as (
      delete from tag_days where ctid = any (array(
        select ctid from tag_days
        where day < (to_timestamp(${beforeMs}::float8 / 1000) at time zone 'utc')::date and day <> '-infinity'
        limit ${limit}
      ))
      returning tag_id, app_id, platform_id, subscribed, unsubscribed
    ),
    kept as (
      insert into tag_days (tag_id, app_id, platform_id, day, slot, subscribed, unsubscribed)
      select tag_id, app_id, platform_id, '-infinity'::date, 0, sum(subscribed), sum(unsubscribed)
      from old group by tag_id, app_id, platform_id
      order by tag_id, app_id, platform_id
      on conflict (tag_id, app_id, platform_id, day, slot) do update set
        subscribed = tag_days.subscribed + excluded.subscribed,
        unsubscribed = tag_days.unsubscribed + excluded.unsubscribed
    )
    select count(*) as count from old`;
  return row?.count ?? 0;
}

/**
 * Deletes tokens that no node has made or refused for `unusedForMs`: their credential is gone.
 * Answers how many, at most `limit`.
 */
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

/** Deletes nodes that have been dead for `deadForMs`. Answers how many, at most `limit`. */
export async function deleteDeadNodes(sql: Sql, deadForMs: number, limit: number): Promise<number> {
  const deleted = await sql`
    delete from nodes where id in (
      select id from nodes
      where died_at < now() - make_interval(secs => ${deadForMs}::float8 / 1000)
      order by id limit ${limit}
    )`;
  return deleted.count;
}

/**
 * Deletes buckets from which no node has drawn for `unusedForMs`: they would be full and at the
 * bottom of their ramp, as new ones are. Answers how many, at most `limit`.
 */
export async function deleteQuotas(sql: Sql, unusedForMs: number, limit: number): Promise<number> {
  const deleted = await sql`
    delete from provider_quotas where key in (
      select key from provider_quotas
      where greatest(refilled_at, paused_until) < now() - make_interval(secs => ${unusedForMs}::float8 / 1000)
      limit ${limit}
    )`;
  return deleted.count;
}
