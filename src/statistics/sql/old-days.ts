/** Adds up rows of statistics whose days are over, or older than days are kept. */

import type { Fragment, Sql } from '../../database/sql.ts';

/**
 * Adds days from before a time to the day -infinity, because all days of a tag together give its
 * number of subscribers. Answers how many, at most `limit`.
 */
export const deleteTagDays = (sql: Sql, beforeMs: number, limit: number): Promise<number> =>
  addUpTagDays(
    sql,
    sql`day < (to_timestamp(${beforeMs}::float8 / 1000) at time zone 'utc')::date and day <> '-infinity'`,
    sql`'-infinity'::date`,
    limit,
  );

/** Adds the slots of past days to slot 0: no node writes them any more. At most `limit`. */
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

/** The same with counts of what was sent: the totals are those of all days. */
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
