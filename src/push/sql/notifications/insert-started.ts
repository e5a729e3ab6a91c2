/**
 * Accepts notifications and starts what is small, in one statement: plans it, and claims its chunks
 * for the node that accepts. They are written as planDue and claimChunks leave them. Small: at most
 * one chunk for each (app, platform), one in all at least. The others are accepted only.
 */

import type { Sql } from '../../../database/sql.ts';
import type { Scope } from '../../../domain/device.ts';
import type { AcceptedNotification, NewNotification } from './insert-notifications.ts';
import { asked, askedScopes } from './insert-notifications.ts';
import {
  currentTargets,
  GROUPS_OF_SMALL_MAX,
  LOOK_UPS_OF_SMALL_MAX,
  mayHoldAnybody,
} from './plan-due.ts';
import { termNames } from './terms.ts';

/** A chunk that is claimed already, with the first epoch. */
export interface StartedChunk extends Scope {
  readonly groupNumber: number;
  readonly ordinalEnd: number;
  /** 0 when nothing ever changed in the group. */
  readonly groupVersion: number;
}

/** Its state is QUEUED, as of any other that was accepted; its status shows that it has begun. */
export interface StartedNotification extends AcceptedNotification {
  readonly clientId: number;
  /** Those of its targets that still address devices. */
  readonly anyTagIds: readonly number[];
  /** When it was accepted, planned and claimed, by the database's time. */
  readonly acceptedAtMs: number;
  /** None: it was accepted only. */
  readonly chunks: readonly StartedChunk[];
}

/** Whether it may be small: it is due, held to no rate, stage or cap, and names few tags. */
export const isPerhapsSmall = (notification: NewNotification): boolean =>
  notification.sendAtMs === null &&
  notification.ratePerSecond === null &&
  notification.pauseAfter === null &&
  (notification.policy?.caps ?? null) === null &&
  notification.audience.isToEverybody !== true &&
  lookUpsOfOne(notification) <= LOOK_UPS_OF_SMALL_MAX;

export const lookUpsOfOne = ({ scopes, audience }: NewNotification): number =>
  scopes.length * (audience.anyTagIds.length + audience.allTagIds.length);

/** Answers those that were written: all except those whose idempotency key is taken. */
export const insertStarted = (
  sql: Sql,
  notifications: readonly NewNotification[],
  { nodeId, leaseMs }: { readonly nodeId: number | null; readonly leaseMs: number },
) => sql<StartedNotification[]>`
  with ${asked(sql, notifications, currentTargets(sql))},
  ${reached(sql, notifications)},
  started as materialized (
    select id, sum(cardinality(group_numbers)) as chunks from reached group by id
    having sum(pairs) <= ${GROUPS_OF_SMALL_MAX}::integer and max(cardinality(group_numbers)) = 1
  ),
  chunked as materialized (
    select id, app_id, platform_id, ordinal_end, group_numbers[1] as group_number
    from reached join started using (id) where cardinality(group_numbers) = 1
  ),
  accepted as (
    insert into notifications (
      id, client_id, user_name, ${termNames(sql)}, audience_expression, templated, send_at, expires_at,
      state, open_chunks
    )
    select id, client_id, user_name, ${termNames(sql)}, audience_expression, templated, send_at, expires_at,
      case when chunks is null then 'QUEUED' else 'RUNNING' end, coalesce(chunks, 0)
    from asked left join started using (id)
    returning id, client_id, any_tag_ids
  ),
  scoped as (
    insert into notification_scopes
      (notification_id, app_id, platform_id, simulated, ordinal_end, planned_chunks)
    select id, app_id, platform_id, s.simulated,
      coalesce(c.ordinal_end, 0), case when c.group_number is not null then 1 end
    from asked
    join ${askedScopes(sql, notifications)} using (id)
    left join chunked c using (id, app_id, platform_id)
  ),
  claimed as (
    insert into chunks (
      notification_id, app_id, platform_id, group_number,
      epoch, claims_without_progress, node_id, node_epoch, lease_until
    )
    select id, app_id, platform_id, group_number,
      1, 1, ${nodeId}::integer, 1, now() + ${leaseMs}::float8 * interval '1 millisecond'
    from chunked
  ),
  listed as (
    select id, json_agg(json_build_object(
      'appId', app_id, 'platformId', platform_id, 'groupNumber', group_number, 'ordinalEnd', ordinal_end,
      'groupVersion', coalesce((
        select version from device_groups g
        where (g.app_id, g.platform_id, g.group_number) = (c.app_id, c.platform_id, c.group_number)
      ), 0)
    )) as chunks
    from chunked c group by id
  )
  select id, 'QUEUED' as state, client_id as "clientId", any_tag_ids as "anyTagIds", coalesce(chunks, '[]') as chunks,
    (extract(epoch from now()) * 1000)::float8 as "acceptedAtMs"
  from accepted left join listed using (id)`;

/** `reached`: every scope of what is asked, and its groups that may hold a device of it. */
const reached = (sql: Sql, notifications: readonly NewNotification[]) => sql`
  reached as materialized (
    select d.id, s.app_id, s.platform_id, p.next_ordinal as ordinal_end, g.pairs, g.group_numbers
    from asked d
    join ${askedScopes(sql, notifications)} on s.id = d.id
    cross join lateral (
      select next_ordinal from app_platforms
      where app_id = s.app_id and platform_id = s.platform_id limit 1
    ) p
    cross join lateral (
      select count(*) as pairs,
        coalesce(array_agg(distinct t.group_number) filter (where ${mayHoldAnybody(sql)}), '{}') as group_numbers
      from (
        select group_number from unnest(d.any_tag_ids) as a (tag_id)
        cross join lateral (
          select group_number from device_group_tags
          where app_id = s.app_id and platform_id = s.platform_id and tag_id = a.tag_id
          limit ${GROUPS_OF_SMALL_MAX + 1}::integer
        ) of_tag
        limit ${GROUPS_OF_SMALL_MAX + 1}::integer
      ) t
    ) g
  )`;
