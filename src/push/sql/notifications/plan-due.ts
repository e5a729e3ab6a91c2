/**
 * Plans the due notifications: takes each scope's ordinal mark, and writes a chunk for every group
 * below it that may hold a device of the audience (device_group_tags; for everybody each group).
 * One statement: all chunks or none. Tags that have expired or were deleted since address no
 * device; without a filter tag none is left. One with nothing to send is finished at once.
 */

import { boolean, integer, rowsOf, text } from '../../../database/rows.ts';
import type { Fragment, Sql } from '../../../database/sql.ts';
import type { Scope } from '../../../domain/device.ts';
import { GROUP_DEVICES } from '../../../domain/device.ts';
import { URGENT_PER_OTHER } from '../../../domain/notification.ts';
import { recordEndedJobs } from '../../../webhooks/record-events.ts';
import { heldRate } from './held-rate.ts';

/**
 * So many small ones take ten milliseconds, which an urgent one may have to wait for.
 * @limit notifications planned at once → the next round; after one that failed a quarter, down to
 * one, then four times as many again
 */
export const PLANNED_AT_ONCE_MAX = 128;
/**
 * One for ten million devices writes 1,221 chunks.
 * @limit groups of a notification above which it is large
 */
export const GROUPS_OF_SMALL_MAX = 8;
/**
 * Each is looked up, also where no group has the tag.
 * @limit scopes times tags above which it is large
 */
export const LOOK_UPS_OF_SMALL_MAX = 256;
/** @limit large ones planned at once → the next round */
export const LARGE_AT_ONCE_MAX = 16;
export const LARGE_WEIGHT = PLANNED_AT_ONCE_MAX / LARGE_AT_ONCE_MAX;

/** Each client has four: for immediate and for scheduled pushes, each also for urgent ones. */
export interface DueQueue {
  readonly clientId: number;
  readonly isScheduled: boolean;
  readonly isUrgent: boolean;
}

/** A planned notification, with the number of chunks to claim. */
export interface PlannedNotification extends DueQueue {
  readonly id: string;
  readonly ratePerSecond: number | null;
  /** When it was accepted, or was to be sent, and when it was planned. */
  readonly dueAtMs: number;
  readonly plannedAtMs: number;
  /** The weight of those before it in this call: a small one 1, a large one LARGE_WEIGHT. */
  readonly weightBefore: number;
  /** The scopes that have chunks, and how many. */
  readonly scopes: readonly (Scope & { readonly chunks: number })[];
}

/**
 * Clients take turns, and so do the queues of each; an urgent queue gets URGENT_PER_OTHER turns for
 * one of another. `but`: queues to skip. `atOnceMax`: how many small ones at most, one at least.
 * The audience may have lost expired tags since acceptance, never gained any.
 * Its plan is kept (PLANS_ARE_KEPT): each row is looked up by its own key, in a query of its own,
 * which "limit" and "offset" keep one, or by an array.
 */
export const planDue = (
  sql: Sql,
  but: readonly DueQueue[] = [],
  atOnceMax: number = PLANNED_AT_ONCE_MAX,
) =>
  sql<PlannedNotification[]>`
    with recursive ${nearest(sql, but, atOnceMax)},
    ${weighed(sql)},
    due as (
      select d.*, w.before from weighed w
      -- By its id alone ("limit" keeps the other conditions out): a plan that was made while few
      -- waited would look for each among all that wait.
      cross join lateral (
        select id, state, any_tag_ids, all_tag_ids, is_to_everybody, finished_at, send_at, next_wave_at from notifications
        where id = w.id limit 1 for update skip locked
      ) d
      where w.before < ${atOnceMax}::integer
        and d.finished_at is null and d.state in ('SCHEDULED', 'QUEUED')
        -- Its time may have been changed since it was found.
        and d.send_at <= now()
        -- Its waves are planned apart (push/plan/wave-planner.ts).
        and d.next_wave_at is null
    ),
    ${scoped(sql)},
    planned as (
      insert into chunks (notification_id, app_id, platform_id, group_number)
      select id, app_id, platform_id, unnest(group_numbers) from scoped
    ),
    marked as (
      update notification_scopes s set
        ordinal_end = m.ordinal_end, planned_chunks = cardinality(m.group_numbers)
      from scoped m
      where cardinality(m.group_numbers) > 0
        and s.notification_id = any (array[m.id]) and (s.app_id, s.platform_id) = (m.app_id, m.platform_id)
    ),
    summed as materialized (
      select id, before, state, any_tag_ids, coalesce(sum(cardinality(group_numbers)), 0) as chunks,
        json_agg(
          json_build_object('appId', app_id, 'platformId', platform_id, 'chunks', cardinality(group_numbers))
        ) filter (where cardinality(group_numbers) > 0) as scopes
      from scoped group by before, id, state, any_tag_ids
      -- Whose turn comes first is answered first.
      order by before
    ),
    ended as (
      -- As advance-notifications.ts does.
      insert into ended_notifications (notification_id)
      select id from summed where chunks = 0
      on conflict do nothing
    ),
    told as (
      ${recordEndedJobs(
        sql,
        sql`(
          select s.id, n.client_id, 'FINISHED' as state
          from summed s join notifications n on n.id = any (array[s.id])
          where s.chunks = 0
        )`,
      )}
    )
    update notifications n set
      any_tag_ids = d.any_tag_ids,
      open_chunks = d.chunks,
      state = case when d.chunks = 0 then 'FINISHED' else 'RUNNING' end,
      finished_at = case when d.chunks = 0 then now() end,
      is_end_listed = d.chunks = 0
    from summed d
    where n.id = any (array[d.id])
    returning n.id, n.client_id as "clientId", d.state = 'SCHEDULED' as "isScheduled", n.urgent as "isUrgent",
      ${heldRate(sql)} as "ratePerSecond",
      (extract(epoch from greatest(n.accepted_at, n.send_at)) * 1000)::float8 as "dueAtMs",
      (extract(epoch from now()) * 1000)::float8 as "plannedAtMs", d.before::integer as "weightBefore",
      coalesce(d.scopes, '[]') as scopes`;

/** `nearest`: the due notifications whose turn comes next, the clients and their queues in turn. */
const nearest = (sql: Sql, but: readonly DueQueue[], atOnceMax: number) => sql`
  clients (client_id) as (
    (
      select client_id from notifications
      where finished_at is null and state in ('SCHEDULED', 'QUEUED')
      order by client_id limit 1
    )
    union all
    select (
      select n.client_id from notifications n
      where n.finished_at is null and n.state in ('SCHEDULED', 'QUEUED') and n.client_id > c.client_id
      order by n.client_id limit 1
    )
    from clients c where c.client_id is not null
  ),
  ahead as (
    select d.*, (d.number - 1) / l.turns as round, c.client_id, l.urgent, l.state
    from clients c
    cross join (
      values ('QUEUED', true, ${URGENT_PER_OTHER}::integer), ('SCHEDULED', true, ${URGENT_PER_OTHER}::integer),
        ('QUEUED', false, 1), ('SCHEDULED', false, 1)
    ) as l(state, urgent, turns)
    cross join lateral (
      select id, any_tag_ids, all_tag_ids, is_to_everybody, row_number() over (order by send_at) as number from (
        select id, any_tag_ids, all_tag_ids, is_to_everybody, send_at from notifications
        where finished_at is null and state in ('SCHEDULED', 'QUEUED')
          -- The queue, and what of it is due. Only the index of queues has this order: with
          -- equalities and "order by send_at" an old plan went through all that is unfinished.
          and (client_id, state, urgent, send_at) >= (c.client_id, l.state, l.urgent, '-infinity'::timestamptz)
          and (client_id, state, urgent, send_at) <= (c.client_id, l.state, l.urgent, now())
        order by client_id, state, urgent, send_at limit ${PLANNED_AT_ONCE_MAX}::integer
      ) first
    ) d
    where c.client_id is not null and not exists (
      select 1 from ${excepted(sql, but)}
      where excepted.client_id = c.client_id and excepted.state = l.state and excepted.urgent = l.urgent
    )
  ),
  nearest as (
    select id, any_tag_ids, all_tag_ids, is_to_everybody, client_id,
      row_number() over (partition by client_id order by round, urgent desc, number, state) as place
    from ahead
    order by place, client_id limit ${atOnceMax}::integer
  )`;

/** `weighed`: the nearest, and how much comes before each; a large one counts more. */
const weighed = (sql: Sql) => sql`
  weighed as (
    select n.id, sum(w.weight) over (order by n.place, n.client_id) - w.weight as before
    from nearest n
    cross join lateral (
      select case when n.is_to_everybody or look_ups > ${LOOK_UPS_OF_SMALL_MAX}::integer or (
        select count(*) from (
          select from notification_scopes s
          cross join unnest(n.any_tag_ids) as a (tag_id)
          cross join lateral (
            select from device_group_tags
            where app_id = s.app_id and platform_id = s.platform_id and tag_id = a.tag_id
            limit ${GROUPS_OF_SMALL_MAX + 1}::integer
          ) of_tag
          where s.notification_id = any (array[n.id])
          limit ${GROUPS_OF_SMALL_MAX + 1}::integer
        ) pairs
      ) > ${GROUPS_OF_SMALL_MAX}::integer then ${LARGE_WEIGHT}::integer else 1 end as weight
      from (
        select count(*) * (cardinality(n.any_tag_ids) + cardinality(n.all_tag_ids)) as look_ups
        from (
          select from notification_scopes where notification_id = any (array[n.id])
          limit ${LOOK_UPS_OF_SMALL_MAX + 1}::integer
        ) scopes
      ) asked
      -- Used twice above, counted once.
      offset 0
    ) w
  )`;

/** `scoped`: each scope `s` of what is due, and its groups that may hold a device of it. */
export const scoped = (sql: Sql, isAsked: Fragment = sql``) => sql`
  addressed as materialized (
    select id, before, state, all_tag_ids, ${currentTargets(sql)} as any_tag_ids,
      is_to_everybody and ${areCurrent(sql)} as is_to_everybody
    from due
  ),
  scoped as materialized (
    select d.id, d.before, d.state, d.any_tag_ids, s.app_id, s.platform_id, s.ordinal_end, s.group_numbers
    from addressed d
    left join lateral (
      select s.app_id, s.platform_id, p.next_ordinal as ordinal_end, array(
        select group_number
        from (
          select distinct group_number from unnest(case when d.is_to_everybody then '{}' else d.any_tag_ids end) as a (tag_id)
          cross join lateral (
            select group_number from device_group_tags
            where app_id = s.app_id and platform_id = s.platform_id and tag_id = a.tag_id
            offset 0
          ) of_tag
          union all
          -- Not even begun unless it is to everybody.
          select group_number from device_groups
          where d.is_to_everybody and app_id = s.app_id and platform_id = s.platform_id
        ) t
        where ${mayHoldAnybody(sql)}
      ) as group_numbers
      from notification_scopes s
      cross join lateral (
        select next_ordinal from app_platforms
        where app_id = s.app_id and platform_id = s.platform_id limit 1
      ) p
      where s.notification_id = any (array[d.id]) ${isAsked}
    ) s on true
  )`;

/**
 * Whether group `t` of scope `s`, below the mark of `p`, may hold a device with a target of the
 * notification `d`.
 */
export const mayHoldAnybody = (sql: Sql) => sql`
  t.group_number <= (p.next_ordinal - 1) / ${GROUP_DEVICES}::integer
    and (
      select vacant_version is distinct from version from device_groups
      where app_id = s.app_id and platform_id = s.platform_id and group_number = t.group_number
    )
    and not exists (
      select from unnest(d.all_tag_ids) as f (tag_id)
      where (
        select true from device_group_tags
        where app_id = s.app_id and platform_id = s.platform_id
          and tag_id = f.tag_id and group_number = t.group_number
      ) is null
    )`;

/** The targets of a notification that still address devices. Without a filter tag none is left. */
export const currentTargets = (sql: Sql) => sql`
  case
    when not ${areCurrent(sql)} then '{}'
    else array(select distinct t.id from unnest(any_tag_ids) as t (id) where ${isCurrent(sql)})
  end`;

/** Whether all filter tags of a notification still address devices. */
const areCurrent = (sql: Sql) => sql`
  not exists (select from unnest(all_tag_ids) as t (id) where not ${isCurrent(sql)})`;

/** Whether the tag with the id `t` addresses devices. */
export const isCurrent = (sql: Sql) => sql`
  coalesce((
    select deleted_at is null and (expires_at_ms is null or expires_at_ms > extract(epoch from now()) * 1000)
    from tags where tags.id = t.id
  ), false)`;

const excepted = rowsOf<DueQueue>('excepted', {
  client_id: integer(({ clientId }) => clientId),
  state: text(({ isScheduled }) => (isScheduled ? 'SCHEDULED' : 'QUEUED')),
  urgent: boolean(({ isUrgent }) => isUrgent),
});
