/**
 * Counts ended notifications in notification_days by tag and app, each exactly once: the statement
 * that counts one deletes its row of ended_notifications. Until then readers count the notification
 * itself.
 */

import type { Sql } from '../database/sql.ts';

/**
 * Lists up to `limit` notifications that have ended and are in no list: a node of the version
 * before has ended them, or a person by hand. Returns how many.
 */
export async function listEnded(sql: Sql, limit: number): Promise<number> {
  const listed = await sql`
    with unlisted as (
      select id from notifications where finished_at is not null and not is_end_listed
      order by id limit ${limit}
      for no key update skip locked
    ),
    marked as (
      update notifications n set is_end_listed = true from unlisted where n.id = unlisted.id
      returning n.id
    )
    insert into ended_notifications (notification_id) select id from marked
    on conflict do nothing`;
  return listed.count;
}

/** Counts up to `limit` listed ones that no other node is counting. Answers how many. */
export async function countEnded(sql: Sql, limit: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    with taken as materialized (
      select notification_id as id from ended_notifications
      order by notification_id limit ${limit}
      for update skip locked
    ),
    unlisted as (
      delete from ended_notifications where notification_id = any (array(select id from taken))
    ),
    ended as (
      -- Each by its id ("limit" sees to that): a join would read the whole of a table of some ten thousand.
      select id, n.accepted_at, n.any_tag_ids from taken
      cross join lateral (
        select accepted_at, any_tag_ids from notifications where notifications.id = taken.id limit 1
      ) n
    ),
    ${counting(sql, 1)}
    select count(*) as count from taken`;
  return row?.count ?? 0;
}

/**
 * Takes a notification out of the days, because it goes on and will end once more. The transaction
 * holds it, and has not changed its counts yet. It waits for a node that is counting it.
 */
export async function uncountEnded(tx: Sql, notificationId: string): Promise<void> {
  const unlisted = await tx`
    delete from ended_notifications where notification_id = ${notificationId}::uuid`;
  const marked = await tx`
    update notifications set is_end_listed = false
    where id = ${notificationId}::uuid and is_end_listed`;
  if (marked.count === 0 || unlisted.count > 0) return;
  await tx`
    with ended as (
      select id, accepted_at, any_tag_ids from notifications where id = ${notificationId}::uuid
    ),
    ${counting(tx, -1)}
    select`;
}

/**
 * Queries of a statement, without a comma at the end: adds the counts of `ended` to the days, or
 * takes them out. Rows are locked in one order, so that nodes do not deadlock.
 */
const counting = (sql: Sql, sign: 1 | -1) => sql`
    in_apps as (
      select e.id, s.app_id, s.delivered, s.failed
      from ended e
      cross join lateral (
        select app_id, sum(delivered) as delivered, sum(failed) as failed
        from notification_scopes where notification_id = e.id group by app_id
      ) s
    ),
    in_all as (
      select id, sum(delivered) as delivered, sum(failed) as failed from in_apps group by id
    ),
    of_objects as (
      select t.object_id, e.accepted_at, a.delivered, a.failed
      from ended e
      cross join lateral (select distinct unnest(e.any_tag_ids)) as t (object_id)
      left join in_all a using (id)
      union all
      select a.app_id, e.accepted_at, a.delivered, a.failed from ended e join in_apps a using (id)
    ),
    counted as (
      insert into notification_days as d (object_id, day, notifications, delivered, failed, last_accepted_at)
      select object_id, (accepted_at at time zone 'utc')::date, ${sign}::integer * count(*),
        ${sign}::integer * coalesce(sum(delivered), 0), ${sign}::integer * coalesce(sum(failed), 0), max(accepted_at)
      from of_objects
      group by 1, 2
      order by 1, 2
      on conflict (object_id, day) do update set
        notifications = d.notifications + excluded.notifications,
        delivered = d.delivered + excluded.delivered,
        failed = d.failed + excluded.failed,
        last_accepted_at = greatest(d.last_accepted_at, excluded.last_accepted_at)
    )`;
