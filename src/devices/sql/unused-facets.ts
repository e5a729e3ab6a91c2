/** Finds facets that may go, the devices that have them, and settles what becomes of them. */

import { DEVICE_GROUP_KEY } from '../../database/columns.ts';
import { rowsOf } from '../../database/rows.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { list, textList } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { FacetId } from '../../domain/attributes.ts';
import { ATTRIBUTE_TYPES, BUILT_IN_ATTRIBUTES, valuesMaxOf } from '../../domain/attributes.ts';
import { firstOrdinalOf, GROUP_DEVICES, lastOrdinalOf } from '../../domain/device.ts';
import type { DeviceGroupChange, DeviceGroupKey } from '../../domain/device-group-change.ts';
import { changesOf } from '../../domain/device-group-change.ts';
import { recordChanges, touchedDeviceGroups } from '../../statistics/record-changes.ts';
import { ERASING_SLOT } from '../../statistics/slots.ts';

export interface Candidate {
  readonly id: FacetId;
  readonly clientId: number;
  /** Its attribute was deleted: it leaves the devices. The others stay where a device has them. */
  readonly isDead: boolean;
  /** No device had it when it was looked for before. */
  readonly isRetired: boolean;
  /** Its attribute has as many values as it may. */
  readonly isOfFull: boolean;
}

interface Ages {
  readonly unusedSinceMs: number;
  /** The same of attributes that are full. */
  readonly fullUnusedSinceMs: number;
  readonly retiredSinceMs: number;
  readonly deletedSinceMs: number;
}

/** Finds those of the first client after the given one that has any. */
export const nextCandidates = (
  sql: Sql,
  afterClientId: number,
  { unusedSinceMs, fullUnusedSinceMs, retiredSinceMs, deletedSinceMs }: Ages,
  full: readonly FullAttribute[],
  limit: number,
) => sql<Candidate[]>`
  with full_attributes as (
    select * from unnest(${list(full.map(({ clientId }) => clientId))}::integer[], ${list(full.map(({ attributeId }) => attributeId))}::integer[])
      as f (client_id, attribute_id)
  ),
  candidates as (
    select id, client_id, is_dead, is_of_full, retired_at is not null as is_retired
    from (
      select v.*, f.attribute_id is not null as is_of_full, v.attribute_id > 0 and not exists (select from attributes a where a.id = v.attribute_id) as is_dead
      from attribute_values v
      left join full_attributes f on f.client_id = v.client_id and f.attribute_id = v.attribute_id
      where v.client_id > ${afterClientId}
        and (v.retired_at is not null or v.last_set_at < ${at(sql, unusedSinceMs)}
          or (f.attribute_id is not null and v.last_set_at < ${at(sql, fullUnusedSinceMs)}))
    ) values_
    where case
      -- A node may have touched it while its attribute was deleted.
      when is_dead then coalesce(retired_at, last_set_at) < ${at(sql, deletedSinceMs)}
      else coalesce(retired_at < ${at(sql, retiredSinceMs)}, true)
    end
  )
  select id, client_id as "clientId", is_dead as "isDead", is_retired as "isRetired", is_of_full as "isOfFull"
  from candidates where client_id = (select min(client_id) from candidates)
  order by id limit ${limit}`;

export interface FullAttribute {
  readonly clientId: number;
  readonly attributeId: number;
}

/** Finds up to `limit` attributes with as many values as they may have. Counts all values once. */
export const fullAttributes = (sql: Sql, limit: number) => sql<FullAttribute[]>`
  select counted.client_id as "clientId", counted.attribute_id as "attributeId"
  from (
    select client_id, attribute_id, count(*) as used from attribute_values
    group by 1, 2 having count(*) >= ${LEAST_FULL}::integer
  ) counted
  left join unnest(${list(BUILT_IN_ATTRIBUTES.map(({ id }) => id))}::integer[], ${textList(BUILT_IN_ATTRIBUTES.map(({ type }) => type))}::text[])
    as built_in (id, type) on built_in.id = counted.attribute_id
  left join attributes a on a.id = counted.attribute_id
  join unnest(${textList(ATTRIBUTE_TYPES)}::text[], ${list(ATTRIBUTE_TYPES.map(valuesMaxOf))}::integer[])
    as most (type, used) on most.type = coalesce(built_in.type, a.type) and most.used <= counted.used
  limit ${limit}`;

const LEAST_FULL = Math.min(...ATTRIBUTE_TYPES.map(valuesMaxOf));

const at = (sql: Sql, ms: number) => sql`to_timestamp(${ms}::float8 / 1000)`;

/** The groups of a client's apps, in order. */
export const nextGroups = (
  sql: Sql,
  clientId: number,
  { appId, platformId, groupNumber }: DeviceGroupKey,
  limit: number,
) => sql<DeviceGroupKey[]>`
  select g.app_id as "appId", g.platform_id as "platformId", g.group_number as "groupNumber"
  from apps a join device_groups g on g.app_id = a.id
  where a.client_id = ${clientId}
    and (g.app_id, g.platform_id, g.group_number) > (${appId}::integer, ${platformId}::smallint, ${groupNumber}::integer)
  order by 1, 2, 3 limit ${limit}`;

const groupRows = rowsOf<DeviceGroupKey>('g', DEVICE_GROUP_KEY);

/** Which of the facets devices of these groups have. */
export const facetsInGroups = (
  sql: Sql,
  groups: readonly DeviceGroupKey[],
  facetIds: readonly FacetId[],
) => sql<(DeviceGroupKey & { readonly facetIds: readonly FacetId[] })[]>`
  select g.app_id as "appId", g.platform_id as "platformId", g.group_number as "groupNumber",
    array_agg(distinct f.id) as "facetIds"
  from ${groupRows(sql, groups)}
  join devices d on d.app_id = g.app_id and d.platform_id = g.platform_id
    and d.ordinal between g.group_number * ${GROUP_DEVICES}::integer
      and g.group_number * ${GROUP_DEVICES}::integer + ${GROUP_DEVICES - 1}::integer
  cross join lateral unnest(d.facet_ids) as f (id)
  where d.facet_ids && ${list(facetIds)}::integer[] and f.id = any (${list(facetIds)}::integer[])
  group by 1, 2, 3`;

interface RemovedFacets {
  readonly devices: number;
  readonly changes: readonly DeviceGroupChange[];
}

/** Takes facets off up to `limit` devices of a group; those that are locked keep theirs. */
export const removeFacets = (
  sql: SqlPool,
  group: DeviceGroupKey,
  facetIds: readonly FacetId[],
  limit: number,
): Promise<RemovedFacets> =>
  transact(sql, async (tx) => {
    const { appId, platformId, groupNumber } = group;
    const removed = await tx<{ ordinal: number; lost: FacetId[] }[]>`
      with free as (
        select app_id, platform_id, ordinal, facet_ids from devices
        where app_id = ${appId} and platform_id = ${platformId}
          and ordinal between ${firstOrdinalOf(groupNumber)} and ${lastOrdinalOf(groupNumber)}
          and facet_ids && ${list(facetIds)}::integer[]
        order by device_key limit ${limit}
        for no key update skip locked
      )
      update devices d set facet_ids =
        nullif(array(select unnest(d.facet_ids) except select unnest(${list(facetIds)}::integer[]) order by 1), '{}')
      from free
      where d.app_id = free.app_id and d.platform_id = free.platform_id and d.ordinal = free.ordinal
      returning d.ordinal,
        array(select unnest(free.facet_ids) intersect select unnest(${list(facetIds)}::integer[])) as lost`;
    const tags = removed.map(({ ordinal, lost }) => ({
      appId,
      platformId,
      ordinal,
      gained: [],
      lost,
    }));
    const groups = removed.length === 0 ? [] : touchedDeviceGroups([], [group]);
    const raised = await recordChanges(tx, [], groups, ERASING_SLOT);
    return { devices: removed.length, changes: changesOf(raised, { tags }) };
  });

interface Settled {
  readonly used: readonly FacetId[];
  /** No device has them. */
  readonly unused: readonly FacetId[];
  /** Those of them whose attribute is full. */
  readonly ofFull: readonly FacetId[];
  /** No device has them, nor had when they were looked for before. */
  readonly gone: readonly FacetId[];
  readonly dead: readonly FacetId[];
  /** The same times that chose them: a registration may have named one since. */
  readonly ages: Ages;
}

export const settleFacets = (sql: SqlPool, { used, unused, ofFull, gone, dead, ages }: Settled) =>
  transact(sql, async (tx) => {
    // In the order of all who lock several of them.
    await tx`
      select from attribute_values where id = any (${list([...used, ...unused, ...gone, ...dead])}::integer[])
      order by id for update`;
    await tx`
      update attribute_values set last_set_at = now(), retired_at = null
      where id = any (${list(used)}::integer[])`;
    await tx`
      update attribute_values set retired_at = now()
      where id = any (${list(unused)}::integer[]) and retired_at is null
        and last_set_at < case when id = any (${list(ofFull)}::integer[])
          then ${at(tx, ages.fullUnusedSinceMs)} else ${at(tx, ages.unusedSinceMs)} end`;
    await tx`
      delete from attribute_values
      where id = any (${list(dead)}::integer[])
        or (id = any (${list(gone)}::integer[]) and retired_at < ${at(tx, ages.retiredSinceMs)})`;
  });
