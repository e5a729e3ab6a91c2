/**
 * Claims chunks: each gets a new epoch and a lease by the database's clock, and comes with all that a worker needs
 * to know of its notification. Chunks that another node is claiming in this moment are skipped, not waited for.
 */

import type { NotificationState, Payload } from '../../domain/notification.ts';
import type { Sql } from '../sql.ts';
import { isUnheld } from './unheld.ts';

/** A part of a notification: all of it that is for one (app, platform). */
export interface Part {
  readonly notificationId: string;
  readonly appId: number;
  readonly platformId: number;
}

export interface Wanted extends Part {
  readonly count: number;
}

/** What a claim says of the notification and the scope. */
export interface ClaimedScope {
  readonly notificationId: string;
  readonly clientId: number;
  readonly appId: number;
  readonly platformId: number;
  readonly state: NotificationState;
  readonly fault: string | null;
  /** Whether any device of the scope has the push. */
  readonly hasDelivered: boolean;
  readonly anyTagIds: readonly number[];
  readonly allTagIds: readonly number[];
  readonly noneTagIds: readonly number[];
  readonly payload: Payload;
  /** What is not known to have failed is not sent again. */
  readonly isAtMostOnce: boolean;
  readonly dueAtMs: number;
  readonly expiresAtMs: number | null;
  /** The database's time of the claim: what registered before it is older than any send that follows. */
  readonly claimedAtMs: number;
}

export interface ClaimedChunk extends ClaimedScope {
  readonly groupNumber: number;
  readonly epoch: number;
  /** The 64 bits as a signed number. */
  readonly doneBlocks: string;
  /** At most once: blocks that may have been sent in part, by whoever held the chunk before. Signed, too. */
  readonly startedBlocks: string;
  readonly ordinalEnd: number;
  /** The group's version; 0 when nothing ever changed in it. */
  readonly groupVersion: number;
}

/** `nodeId`: who claims; null: the only node there is. */
export const claimChunks = (
  sql: Sql,
  wanted: readonly Wanted[],
  leaseMs: number,
  nodeId: number | null,
) => sql<ClaimedChunk[]>`
  with available as (
    select c.*
    from unnest(
      ${wanted.map(({ notificationId }) => notificationId)}::uuid[],
      ${wanted.map(({ appId }) => appId)}::integer[],
      ${wanted.map(({ platformId }) => platformId)}::smallint[],
      ${wanted.map(({ count }) => count)}::integer[]
    ) as w(notification_id, app_id, platform_id, count)
    cross join lateral (
      select notification_id, app_id, platform_id, group_number from chunks
      where (notification_id, app_id, platform_id) = (w.notification_id, w.app_id, w.platform_id)
        and available_at <= now() and ${isUnheld(sql)}
      order by group_number
      limit w.count
      for update skip locked
    ) c
  ),
  claimed as (
    update chunks c set
      epoch = c.epoch + 1,
      node_id = ${nodeId}::integer,
      node_epoch = c.epoch + 1,
      lease_until = now() + ${leaseMs}::float8 * interval '1 millisecond'
    from available a
    where (c.notification_id, c.app_id, c.platform_id, c.group_number)
      = (a.notification_id, a.app_id, a.platform_id, a.group_number)
    returning c.*
  )
  select c.group_number as "groupNumber", c.epoch, c.done_blocks::text as "doneBlocks",
    c.started_blocks::text as "startedBlocks",
    s.ordinal_end as "ordinalEnd", coalesce(g.version, 0) as "groupVersion",
    ${claimedScope(sql)}
  from claimed c
  join notifications n on n.id = c.notification_id
  join notification_scopes s using (notification_id, app_id, platform_id)
  left join device_groups g using (app_id, platform_id, group_number)`;

/** The columns of a ClaimedScope, of the notification `n` and its scope `s`. */
export const claimedScope = (sql: Sql) => sql`
  n.id as "notificationId", n.client_id as "clientId",
  s.app_id as "appId", s.platform_id as "platformId", n.state, s.fault,
  s.delivered > 0 as "hasDelivered",
  n.any_tag_ids as "anyTagIds", n.all_tag_ids as "allTagIds", n.none_tag_ids as "noneTagIds",
  n.payload, n.at_most_once as "isAtMostOnce",
  floor(extract(epoch from n.send_at) * 1000)::float8 as "dueAtMs",
  floor(extract(epoch from n.expires_at) * 1000)::float8 as "expiresAtMs",
  floor(extract(epoch from now()) * 1000)::float8 as "claimedAtMs"`;
