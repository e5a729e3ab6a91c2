/**
 * Plans the notifications that are due: takes the ordinal mark of each scope and writes a chunk for every group below it that may hold
 * anybody of the audience, as device_group_tags has it in this statement's snapshot: whoever had subscribed before is in one of them. One statement, so one transaction: a
 * notification has all its chunks or none. Of a scheduled one, target tags that have expired or were deleted since address nobody any
 * more, and without a filter tag nobody is left. One that has nothing to send is finished at once.
 */

import type { PlatformOfApp } from '../../domain/device.ts';
import { GROUP_DEVICES } from '../../domain/device.ts';
import type { Sql } from '../sql.ts';

/** Notifications planned at a time: a ten-million one writes 1,221 chunks. */
export const PLANNED_AT_ONCE_MAX = 16;

/** A notification that is planned, and what is to be claimed of it. */
export interface PlannedNotification {
  readonly id: string;
  readonly clientId: number;
  /** Those that have chunks. */
  readonly scopes: readonly PlatformOfApp[];
}

/** The next notifications that are due, planned. The audience may have lost expired tags since it was accepted, never gained any. */
export const planDue = (sql: Sql) =>
  sql<PlannedNotification[]>`
    with due as (
      select id, any_tag_ids, all_tag_ids from notifications
      where finished_at is null and state in ('SCHEDULED', 'QUEUED') and send_at <= now()
      order by send_at
      limit ${PLANNED_AT_ONCE_MAX}::integer
      for update skip locked
    ),
    current as (
      select id from tags
      where id in (select unnest(any_tag_ids || all_tag_ids) from due) and deleted_at is null
        and (expires_at_ms is null or expires_at_ms > extract(epoch from now()) * 1000)
    ),
    addressed as (
      select id, all_tag_ids, case when all_tag_ids <@ array(select id from current)
        then array(select unnest(any_tag_ids) intersect select id from current) else '{}' end as any_tag_ids
      from due
    ),
    marked as (
      update notification_scopes s set ordinal_end = p.next_ordinal
      from addressed d, app_platforms p
      where s.notification_id = d.id and cardinality(d.any_tag_ids) > 0
        and p.app_id = s.app_id and p.platform_id = s.platform_id
      returning s.notification_id, s.app_id, s.platform_id, s.ordinal_end, d.any_tag_ids, d.all_tag_ids
    ),
    planned as (
      insert into chunks (notification_id, app_id, platform_id, group_number)
      select m.notification_id, m.app_id, m.platform_id, g.group_number
      from marked m
      cross join lateral (
        select distinct group_number from device_group_tags
        where app_id = m.app_id and platform_id = m.platform_id and tag_id = any (m.any_tag_ids)
      ) t
      join device_groups g
        on g.app_id = m.app_id and g.platform_id = m.platform_id and g.group_number = t.group_number
      where g.vacant_version is distinct from g.version
        and t.group_number <= (m.ordinal_end - 1) / ${GROUP_DEVICES}::integer
        and (
          select count(*) from device_group_tags a
          where a.app_id = m.app_id and a.platform_id = m.platform_id
            and a.tag_id = any (m.all_tag_ids) and a.group_number = t.group_number
        ) = cardinality(m.all_tag_ids)
      returning notification_id, app_id, platform_id
    ),
    open as (
      select notification_id, count(*) as chunks from planned group by notification_id
    )
    update notifications n set
      any_tag_ids = d.any_tag_ids,
      open_chunks = coalesce(o.chunks, 0),
      state = case when o.chunks is null then 'FINISHED' else 'RUNNING' end,
      finished_at = case when o.chunks is null then now() end
    from addressed d left join open o on o.notification_id = d.id
    where n.id = d.id
    returning n.id, n.client_id as "clientId", coalesce((
      select json_agg(json_build_object('appId', app_id, 'platformId', platform_id))
      from (select distinct app_id, platform_id from planned where notification_id = n.id) s
    ), '[]') as scopes`;
