/**
 * Plans the notifications that are due: takes the ordinal mark of each scope and writes a chunk for every group below it, but for those
 * that are known to be vacant, or that a survey has proved to hold nobody who is meant. One statement, so one transaction: a
 * notification has all its chunks or none. Of a scheduled one, target tags that have expired or were deleted since address nobody any
 * more, and without a filter tag nobody is left. One that has nothing to send is finished at once.
 */

import type { PlatformOfApp } from '../../domain/device.ts';
import { GROUP_DEVICES } from '../../domain/device.ts';
import type { Sql } from '../sql.ts';
import { list } from '../sql.ts';

/** Notifications planned at a time: a ten-million one writes 1,221 chunks. */
export const PLANNED_AT_ONCE_MAX = 16;

/** Groups of an (app, platform) that hold, at these versions, nobody whom the notification is for. Parallel, for they are many. */
export interface VacantGroups extends PlatformOfApp {
  readonly notificationId: string;
  readonly groupNumbers: readonly number[];
  readonly versions: readonly number[];
}

/** What was found out of notifications that are due. */
export interface Survey {
  readonly notificationIds: readonly string[];
  readonly vacant: readonly VacantGroups[];
}

/** A notification that is planned, and what is to be claimed of it. */
export interface PlannedNotification {
  readonly id: string;
  readonly clientId: number;
  /** Those that have chunks. */
  readonly scopes: readonly PlatformOfApp[];
}

/**
 * The notifications planned: of those surveyed, if there was a survey, else of all that are due. A group is left out only
 * if it has in this statement's snapshot the version that it was surveyed at, so whoever had subscribed before is in none of them.
 * The audience may have lost expired tags since, never gained any.
 */
export function planDue(sql: Sql, survey: Survey | null = null) {
  const notificationIds = survey?.notificationIds ?? [];
  const places = new Map(notificationIds.map((id, place) => [id, place + 1]));
  const vacant = survey?.vacant ?? [];
  const ofEach = (value: (groups: VacantGroups) => number): readonly number[] =>
    vacant.flatMap((groups) => groups.groupNumbers.map(() => value(groups)));
  return sql<PlannedNotification[]>`
    with due as (
      select id, any_tag_ids, all_tag_ids from notifications
      where finished_at is null and state in ('SCHEDULED', 'QUEUED') and send_at <= now()
        and (${survey === null}::boolean or id = any(${[...notificationIds]}::uuid[]))
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
      select id, case when all_tag_ids <@ array(select id from current)
        then array(select unnest(any_tag_ids) intersect select id from current) else '{}' end as any_tag_ids
      from due
    ),
    marked as (
      update notification_scopes s set ordinal_end = p.next_ordinal
      from addressed d, app_platforms p
      where s.notification_id = d.id and cardinality(d.any_tag_ids) > 0
        and p.app_id = s.app_id and p.platform_id = s.platform_id
      returning s.notification_id, s.app_id, s.platform_id, s.ordinal_end
    ),
    planned as (
      insert into chunks (notification_id, app_id, platform_id, group_number)
      select m.notification_id, m.app_id, m.platform_id, g.group_number
      from marked m
      cross join lateral generate_series(0, (m.ordinal_end - 1) / ${GROUP_DEVICES}::integer) as g(group_number)
      where m.ordinal_end > 0
      except
      select n.id, g.app_id, g.platform_id, g.group_number
      from unnest(
        ${list(ofEach(({ notificationId }) => places.get(notificationId) ?? 0))}::integer[],
        ${list(ofEach(({ appId }) => appId))}::integer[],
        ${list(ofEach(({ platformId }) => platformId))}::smallint[],
        ${list(vacant.flatMap(({ groupNumbers }) => groupNumbers))}::integer[],
        ${list(vacant.flatMap(({ versions }) => versions))}::bigint[]
      ) as v(place, app_id, platform_id, group_number, version)
      join unnest(${[...notificationIds]}::uuid[]) with ordinality as n(id, place) using (place)
      join device_groups g using (app_id, platform_id, group_number, version)
      except
      select m.notification_id, g.app_id, g.platform_id, g.group_number
      from marked m join device_groups g using (app_id, platform_id)
      where g.vacant_version = g.version
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
}
