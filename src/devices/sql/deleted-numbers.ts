/** Finds attributes that were deleted, and takes their numbers off devices. */

import { attributeAtPlace, entryAtPlace, placesOfEntries } from '../../database/number-entries.ts';
import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import { firstOrdinalOf, lastOrdinalOf } from '../../domain/device.ts';
import type { DeviceGroupKey } from '../../domain/device-group-change.ts';

interface DeletedNumbers {
  readonly clientId: number;
  readonly attributeIds: readonly number[];
}

/** Finds those of the client whose are the longest deleted, before a time. Null: there are none. */
export async function nextDeletedNumbers(
  sql: Sql,
  deletedBeforeMs: number,
  limit: number,
): Promise<DeletedNumbers | null> {
  const rows = await sql<{ clientId: number; attributeId: number }[]>`
    with due as (
      select * from deleted_numbers where deleted_at < to_timestamp(${deletedBeforeMs}::float8 / 1000)
    )
    select client_id as "clientId", attribute_id as "attributeId" from due
    where client_id = (select client_id from due order by deleted_at, client_id limit 1)
    order by attribute_id limit ${limit}`;
  const [first] = rows;
  if (first === undefined) return null;
  return { clientId: first.clientId, attributeIds: rows.map(({ attributeId }) => attributeId) };
}

/**
 * Takes them off up to `limit` devices of a group, and answers of how many. No index holds them, so
 * no group changes.
 */
export async function removeNumbers(
  sql: Sql,
  { appId, platformId, groupNumber }: DeviceGroupKey,
  attributeIds: readonly number[],
  limit: number,
): Promise<number> {
  const ids = list(attributeIds);
  const attributeId = attributeAtPlace(sql);
  const places = placesOfEntries(sql);
  const removed = await sql`
    with having_them as (
      select app_id, platform_id, ordinal from devices
      where app_id = ${appId} and platform_id = ${platformId}
        and ordinal between ${firstOrdinalOf(groupNumber)} and ${lastOrdinalOf(groupNumber)}
        and numbers is not null
        and exists (select from ${places} where ${attributeId} = any (${ids}::integer[]))
      -- In the order of all who lock several of them.
      order by device_key limit ${limit}
      for no key update
    )
    update devices d set numbers = (
      select string_agg(${entryAtPlace(sql)}, '' order by place.at) from ${places}
      where ${attributeId} <> all (${ids}::integer[])
    )
    from having_them h
    where d.app_id = h.app_id and d.platform_id = h.platform_id and d.ordinal = h.ordinal`;
  return removed.count;
}

export const settleNumbers = (sql: Sql, attributeIds: readonly number[]) => sql`
  delete from deleted_numbers where attribute_id = any (${list(attributeIds)}::integer[])`;
