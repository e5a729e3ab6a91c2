/**
 * The next piece of the bulk operation whose turn it is. Its row is locked until the piece is
 * committed: done once, by one node; a node that dies has done nothing.
 */

import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type {
  BulkChange,
  BulkCounts,
  FacetPairs,
  NumberPairs,
} from '../../domain/bulk-operation.ts';
import { firstOrdinalOf, groupNumberOf, lastOrdinalOf } from '../../domain/device.ts';
import type { DeviceGroupKey, DevicePlace } from '../../domain/device-group-change.ts';
import type { DeviceKey } from './find-devices.ts';

export interface TakenBulkOperation extends BulkChange {
  readonly id: number;
  readonly clientId: number;
  /** The next keys of a list; null: the devices are members of a tag. */
  readonly deviceKeys: readonly string[] | null;
  /** The facets that these are to have; null: the operation changes tags. */
  readonly deviceFacets: readonly FacetPairs[] | null;
  /** The numbers that these are to have; null: it sets none. */
  readonly deviceNumbers: readonly NumberPairs[] | null;
  /** The app of a list, else null. */
  readonly appId: number | null;
  readonly platformId: number | null;
  /** False: the app of the list was deleted, and its devices are being erased. */
  readonly isAppThere: boolean;
  /** Devices of a list that come after these. */
  readonly left: number;
  /** Only members in these apps; null: in all. */
  readonly appIds: readonly number[] | null;
  /** The last member that was looked at. */
  readonly after: DevicePlace;
}

/**
 * Clients take turns; a client's operations go in order. Null: nothing is due, or others are at it.
 */
export async function takeBulkOperation(
  tx: Sql,
  devicesMax: number,
  subscriptionsMax: number,
): Promise<TakenBulkOperation | null> {
  const [row] = await tx<(Omit<TakenBulkOperation, 'after'> & DevicePlaceColumns)[]>`
    select o.id, o.client_id as "clientId", o.subscribe_tag_ids as subscribe, o.unsubscribe_tag_ids as unsubscribe,
      o.member_of as "memberOf", o.app_ids as "appIds", o.app_id as "appId", o.platform_id as "platformId",
      to_json(o.device_keys[${done(tx)} + 1 : ${done(tx)} + piece.devices]) as "deviceKeys",
      to_json(o.device_facets[${done(tx)} + 1 : ${done(tx)} + piece.devices]) as "deviceFacets",
      to_json(o.device_numbers[${done(tx)} + 1 : ${done(tx)} + piece.devices]) as "deviceNumbers",
      o.app_id is null or exists (
        select from app_platforms p where p.app_id = o.app_id and p.platform_id = o.platform_id
      ) as "isAppThere",
      greatest(o.total - ${done(tx)} - piece.devices, 0) as left,
      o.at_app_id as "atAppId", o.at_platform_id as "atPlatformId", o.at_ordinal as "atOrdinal"
    from bulk_operations o
    cross join lateral (
      select least(${devicesMax}::integer,
        ${subscriptionsMax}::integer / greatest(cardinality(o.subscribe_tag_ids || o.unsubscribe_tag_ids), 1)) as devices
    ) piece
    where o.ended_at is null and o.due_at <= now()
      and not exists (
        select from bulk_operations earlier
        where earlier.client_id = o.client_id and earlier.ended_at is null and earlier.id < o.id
      )
    order by o.due_at, o.id limit 1
    for no key update of o skip locked`;
  if (row === undefined) return null;
  const { atAppId, atPlatformId, atOrdinal, ...operation } = row;
  return { ...operation, after: { appId: atAppId, platformId: atPlatformId, ordinal: atOrdinal } };
}

interface DevicePlaceColumns {
  readonly atAppId: number;
  readonly atPlatformId: number;
  readonly atOrdinal: number;
}

/** Devices that were looked at. */
const done = (sql: Sql) => sql`(o.changed + o.unchanged + o.unknown + o."full" + o.refused)`;

/** The next groups that may have members, from the group of the ordinal after `after`. */
export const groupsWithMembers = (
  tx: Sql,
  { clientId, memberOf, appIds, after }: TakenBulkOperation,
  limit: number,
): Promise<readonly DeviceGroupKey[]> =>
  tx<DeviceGroupKey[]>`
    select g.app_id as "appId", g.platform_id as "platformId", g.group_number as "groupNumber"
    from apps a
    join app_platforms p on p.app_id = a.id
    join device_group_tags g on g.app_id = p.app_id and g.platform_id = p.platform_id and g.tag_id = ${memberOf}
    where a.client_id = ${clientId}
      ${appIds === null ? tx`` : tx`and a.id = any (${list(appIds)}::integer[])`}
      and (g.app_id, g.platform_id, g.group_number)
        >= (${after.appId}::integer, ${after.platformId}::smallint, ${groupNumberOf(after.ordinal + 1)}::integer)
    order by 1, 2, 3 limit ${limit}`;

interface Member extends DeviceKey, DevicePlace {}

/** The next members in a group, by their ordinals. */
export const membersInGroup = (
  tx: Sql,
  { memberOf, after }: TakenBulkOperation,
  { appId, platformId, groupNumber }: DeviceGroupKey,
  limit: number,
): Promise<readonly Member[]> => {
  const isSame = after.appId === appId && after.platformId === platformId;
  const first = firstOrdinalOf(groupNumber);
  return tx<Member[]>`
    select app_id as "appId", platform_id as "platformId", ordinal, device_key as "deviceKey"
    from devices
    where app_id = ${appId} and platform_id = ${platformId}
      and ordinal between ${isSame ? Math.max(first, after.ordinal + 1) : first} and ${lastOrdinalOf(groupNumber)}
      and tag_ids @> array[${memberOf}::integer]
    order by ordinal limit ${limit}`;
};

interface BulkPieceDone extends BulkCounts {
  /** The last member that was looked at. */
  readonly after: DevicePlace;
  readonly isLast: boolean;
}

interface Rest {
  /** In times of the piece. */
  readonly factor: number;
  readonly msMin: number;
}

/** Records the piece. The rest stands in the row, so several nodes work no more than one does. */
export async function recordBulkPiece(
  tx: Sql,
  { id, clientId }: TakenBulkOperation,
  { changed, unchanged, unknown, full, refused, after, isLast }: BulkPieceDone,
  rest: Rest,
): Promise<number> {
  const [row] = await tx<{ restMs: number }[]>`
    select greatest(${rest.factor}::float8 * extract(epoch from clock_timestamp() - now()) * 1000, ${rest.msMin}::float8)::float8 as "restMs"`;
  const { restMs } = row ?? { restMs: rest.msMin };
  await tx`
    update bulk_operations set
      changed = changed + ${changed}, unchanged = unchanged + ${unchanged}, unknown = unknown + ${unknown},
      "full" = "full" + ${full}, refused = refused + ${refused},
      at_app_id = ${after.appId}, at_platform_id = ${after.platformId}, at_ordinal = ${after.ordinal},
      started_at = coalesce(started_at, now()),
      ended_at = case when ${isLast} then now() end,
      device_keys = case when ${isLast} then null else device_keys end,
      device_facets = case when ${isLast} then null else device_facets end,
      device_numbers = case when ${isLast} then null else device_numbers end,
      due_at = ${inMs(tx, restMs)}
    where id = ${id}`;
  if (isLast) await passTurn(tx, clientId, id, restMs);
  return restMs;
}

/**
 * The next operation takes its turn now, not with the time of its acceptance: a client with many
 * small ones would have every turn. After the client's first only: rows are locked in order of ids.
 */
export const passTurn = (tx: Sql, clientId: number, endedId: number, restMs: number) => tx`
  update bulk_operations set due_at = greatest(due_at, ${inMs(tx, restMs)})
  where id = (select min(id) from bulk_operations where client_id = ${clientId} and ended_at is null)
    and id > ${endedId}`;

const inMs = (sql: Sql, ms: number) =>
  sql`clock_timestamp() + make_interval(secs => ${ms}::float8 / 1000)`;

/** Lets the others go first, after a failure. */
export async function postponeBulkOperation(
  sql: Sql,
  operationId: number,
  ms: number,
): Promise<void> {
  await sql`
    update bulk_operations set due_at = ${inMs(sql, ms)}
    where id = ${operationId}`;
}
