/** Counts the devices with each value, in the groups of a client, a piece at a time. */

import type { Sql } from '../../database/sql.ts';
import type { FacetId } from '../../domain/attributes.ts';
import { GROUP_DEVICES } from '../../domain/device.ts';
import type { DeviceGroupKey } from '../../domain/device-group-change.ts';

interface CountedPiece extends DeviceGroupKey {
  readonly groups: number;
  readonly counts: readonly (readonly [facetId: FacetId, devices: number])[];
}

/** Counts in the next groups after the given one; has the key of the last. Null: none is left. */
export async function countValues(
  sql: Sql,
  clientId: number,
  { appId, platformId, groupNumber }: DeviceGroupKey,
  groupsMax: number,
): Promise<CountedPiece | null> {
  const [piece] = await sql<CountedPiece[]>`
    with piece as materialized (
      select g.app_id, g.platform_id, g.group_number
      from apps a join device_groups g on g.app_id = a.id
      where a.client_id = ${clientId}
        and (g.app_id, g.platform_id, g.group_number) > (${appId}::integer, ${platformId}::smallint, ${groupNumber}::integer)
      order by 1, 2, 3 limit ${groupsMax}
    ), counted as (
      select f.id, count(*) as devices
      from piece g
      join devices d on d.app_id = g.app_id and d.platform_id = g.platform_id
        and d.ordinal between g.group_number * ${GROUP_DEVICES}::integer
          and g.group_number * ${GROUP_DEVICES}::integer + ${GROUP_DEVICES - 1}::integer
      cross join lateral unnest(d.facet_ids) as f (id)
      group by f.id
    )
    select app_id as "appId", platform_id as "platformId", group_number as "groupNumber",
      (select count(*) from piece) as groups,
      (select coalesce(json_agg(json_build_array(id, devices)), '[]') from counted) as counts
    from piece order by 1 desc, 2 desc, 3 desc limit 1`;
  return piece ?? null;
}
