/** Deletes rows whose retention is over. */

import type { Fragment, Sql } from '../../database/sql.ts';

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
    days as (delete from tag_days where tag_id in (select id from gone)),
    sent as (delete from notification_days where object_id in (select id from gone))
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
export const deleteTagDays = (sql: Sql, beforeMs: number, limit: number): Promise<number> =>
  addUpTagDays(
    sql,
    sql`day < (to_timestamp(${beforeMs}::float8 / 1000) at time zone 'utc')::date and day <> '-infinity'`,
    sql`'-infinity'::date`,
    limit,
  );

/**
 * Adds the slots of days that are over to slot 0: nobody writes them any more. Answers how many, at
 * most `limit`.
 */
export const mergeTagDays = (sql: Sql, limit: number): Promise<number> =>
  addUpTagDays(
    sql,
    // Yesterday's may still be written, by a transaction that began then.
    sql`day < (now() at time zone 'utc')::date - 1 and slot <> 0`,
    sql`day`,
    limit,
  );

async function addUpTagDays(
  sql: Sql,
  which: Fragment,
  toDay: Fragment,
  limit: number,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    with old as (
      delete from tag_days where ctid = any (array(
        select ctid from tag_days where ${which} limit ${limit}
      ))
      returning tag_id, app_id, platform_id, ${toDay} as day, subscribed, unsubscribed
    ),
    kept as (
      insert into tag_days (tag_id, app_id, platform_id, day, slot, subscribed, unsubscribed)
      select tag_id, app_id, platform_id, day, 0, sum(subscribed), sum(unsubscribed)
      from old group by tag_id, app_id, platform_id, day
      order by tag_id, app_id, platform_id, day
      on conflict (tag_id, app_id, platform_id, day, slot) do update set
        subscribed = tag_days.subscribed + excluded.subscribed,
        unsubscribed = tag_days.unsubscribed + excluded.unsubscribed
    )
    select count(*) as count from old`;
  return row?.count ?? 0;
}

/** Likewise with what was sent: the totals are those of all days. */
export async function deleteNotificationDays(
  sql: Sql,
  beforeMs: number,
  limit: number,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    with old as (
      delete from notification_days where ctid = any (array(
        select ctid from notification_days
        where day < (to_timestamp(${beforeMs}::float8 / 1000) at time zone 'utc')::date and day <> '-infinity'
        limit ${limit}
      ))
      returning object_id, notifications, delivered, failed, last_accepted_at
    ),
    kept as (
      insert into notification_days as d (object_id, day, notifications, delivered, failed, last_accepted_at)
      select object_id, '-infinity'::date, sum(notifications), sum(delivered), sum(failed), max(last_accepted_at)
      from old group by object_id order by object_id
      on conflict (object_id, day) do update set
        notifications = d.notifications + excluded.notifications,
        delivered = d.delivered + excluded.delivered,
        failed = d.failed + excluded.failed,
        last_accepted_at = greatest(d.last_accepted_at, excluded.last_accepted_at)
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

/** Deletes bulk operations that ended `endedForMs` ago. Answers how many, at most `limit`. */
export async function deleteBulkOperations(
  sql: Sql,
  endedForMs: number,
  limit: number,
): Promise<number> {
  const deleted = await sql`
    delete from bulk_operations where id in (
      select id from bulk_operations
      where ended_at < now() - make_interval(secs => ${endedForMs}::float8 / 1000)
      order by ended_at limit ${limit}
    )`;
  return deleted.count;
}
