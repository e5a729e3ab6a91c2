/**
 * Reads whom jobs have reached (decision 74). Their words are in push_reach, in the scope of a
 * small send, and in chunks that are there; devices that compaction has moved since have another
 * place now (moved_ordinals).
 */

import type { Sql } from '../../../database/sql.ts';
import { list } from '../../../database/sql.ts';
import {
  firstOrdinalOf,
  GROUP_DEVICES,
  groupNumberOf,
  lastOrdinalOf,
} from '../../../domain/device.ts';
import type { DeviceGroupKey, DevicePlace } from '../../../domain/device-group-change.ts';
import type { NotificationScope } from '../../../domain/notification.ts';
import { addDevice, addWords, hasDevice, noDevices, removeDevice } from './reach-words.ts';

/** A group in which devices of the asked one are, or were when a job reached them. */
interface GroupWords {
  readonly groupNumber: number;
  readonly words: Uint8Array;
  /** The offsets that moved into the asked group: there, and here. */
  readonly moved: readonly (readonly [from: number, to: number])[] | null;
}

/**
 * The devices of a group, as bits by their offsets of now, that at least one of these jobs has
 * reached. Null: none. Those that were erased since may be among them.
 */
export async function reachedIn(
  sql: Sql,
  notificationIds: readonly string[],
  { appId, platformId, groupNumber }: DeviceGroupKey,
): Promise<Uint8Array | null> {
  const ids = sql`${list(notificationIds)}::uuid[]`;
  const rows = await sql<GroupWords[]>`
    with moved as materialized (
      select from_ordinal, to_ordinal from moved_ordinals
      where app_id = ${appId} and platform_id = ${platformId}
        and to_ordinal between ${firstOrdinalOf(groupNumber)} and ${lastOrdinalOf(groupNumber)}
    ),
    groups as (
      select ${groupNumber}::integer as group_number
      union select from_ordinal / ${GROUP_DEVICES}::integer from moved
    )
    select g.group_number as "groupNumber", string_agg(w.words, ''::bytea) as words,
      (
        select json_agg(json_build_array(
          from_ordinal % ${GROUP_DEVICES}::integer, to_ordinal % ${GROUP_DEVICES}::integer
        ))
        from moved where from_ordinal / ${GROUP_DEVICES}::integer = g.group_number
      ) as moved
    from groups g
    cross join lateral (
      select words from push_reach
      where notification_id = any (${ids}) and app_id = ${appId} and platform_id = ${platformId}
        and group_number = g.group_number
      union all
      select reach_words from chunks
      where notification_id = any (${ids}) and app_id = ${appId} and platform_id = ${platformId}
        and group_number = g.group_number and reach_words is not null
      union all
      select substring(reach_words from 5) from notification_scopes
      where notification_id = any (${ids}) and app_id = ${appId} and platform_id = ${platformId}
        and substring(reach_words for 4) = int4send(g.group_number)
    ) w
    group by g.group_number`;
  if (rows.length === 0) return null;
  const reached = noDevices();
  for (const { groupNumber: place, words, moved } of rows) {
    // An ordinal is given to one device only, so the bits of devices that have left mean no device.
    const there = place === groupNumber ? reached : noDevices();
    addWords(there, words);
    for (const [from, to] of moved ?? []) if (hasDevice(there, from)) addDevice(reached, to);
  }
  return reached;
}

/** The same without those that have left the group: the others are there, or were erased. */
export async function reachedNow(
  sql: Sql,
  notificationIds: readonly string[],
  group: DeviceGroupKey,
): Promise<Uint8Array> {
  const { appId, platformId, groupNumber } = group;
  const reached = await reachedIn(sql, notificationIds, group);
  if (reached === null) return noDevices();
  const left = await sql<{ ordinal: number }[]>`
    select from_ordinal as ordinal from moved_ordinals
    where app_id = ${appId} and platform_id = ${platformId}
      and from_ordinal between ${firstOrdinalOf(groupNumber)} and ${lastOrdinalOf(groupNumber)}`;
  for (const { ordinal } of left) removeDevice(reached, ordinal % GROUP_DEVICES);
  return reached;
}

/** How far the reach of a job in an (app, platform) says everything. */
interface ReachStanding extends NotificationScope {
  /** The job is under way: a node may have sent what it has not recorded yet. */
  readonly isOpen: boolean;
  /** It was removed, or the job ended before any was kept. */
  readonly isGone: boolean;
  /** False: it is not known to whom a part of it was sent. */
  readonly isWhole: boolean;
}

/** Whether the reach of scope `s` has everybody. */
export const isReachWhole = (sql: Sql) => sql`
  coalesce(s.reach_noted, 0) = coalesce(s.delivered + s.uncertain, 0)
    and not exists (
      select from chunks c
      where c.parked_at is not null and c.is_doubted and c.notification_id = s.notification_id
        and c.app_id = s.app_id and c.platform_id = s.platform_id
    )`;

/** One for each scope of these jobs. */
export const readReachStandings = (sql: Sql, notificationIds: readonly string[]) => sql<
  ReachStanding[]
>`
  select n.id as "notificationId", s.app_id as "appId", s.platform_id as "platformId",
    n.finished_at is null and n.open_chunks + n.open_retries > 0 as "isOpen",
    n.finished_at is not null and (
      (s.reached is null and s.total > 0)
      or exists (
        select from reach_removal r where (n.finished_at, n.id) <= (r.ended_at, r.notification_id)
      )
    ) as "isGone",
    ${isReachWhole(sql)} as "isWhole"
  from notifications n join notification_scopes s on s.notification_id = n.id
  where n.id = any (${list(notificationIds)}::uuid[])
  order by n.id, s.app_id, s.platform_id`;

/**
 * Whether a job has reached a device: `unknown` also while it is under way, since what was sent a
 * moment ago is not recorded yet; `gone` when no reach is kept any more.
 */
export async function isReached(
  sql: Sql,
  notificationId: string,
  { appId, platformId, ordinal }: DevicePlace,
): Promise<'reached' | 'not' | 'unknown' | 'gone'> {
  // First: what is recorded between the two counts.
  const standings = await readReachStandings(sql, [notificationId]);
  const groupNumber = groupNumberOf(ordinal);
  const reached = await reachedIn(sql, [notificationId], { appId, platformId, groupNumber });
  if (reached !== null && hasDevice(reached, ordinal % GROUP_DEVICES)) return 'reached';
  const standing = standings.find((one) => one.appId === appId && one.platformId === platformId);
  if (standing === undefined) return 'not';
  if (standing.isOpen) return 'unknown';
  if (standing.isGone) return 'gone';
  return standing.isWhole ? 'not' : 'unknown';
}
