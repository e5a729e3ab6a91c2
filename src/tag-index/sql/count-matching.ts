/** Counts the devices of some groups that match now. */

import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';
import { GROUP_DEVICES } from '../../domain/device.ts';
import type { Audience } from '../../domain/notification.ts';
import { matches } from './matching.ts';

export async function countMatching(
  sql: Sql,
  { appId, platformId }: Scope,
  groupNumbers: readonly number[],
  audience: Audience,
): Promise<number> {
  const [row] = await sql<{ devices: number }[]>`
    select count(*) as devices
    from unnest(${list(groupNumbers)}::integer[]) as g(group_number)
    cross join lateral (
      select from devices
      where app_id = ${appId} and platform_id = ${platformId}
        and ordinal between g.group_number * ${GROUP_DEVICES}::integer
          and g.group_number * ${GROUP_DEVICES}::integer + ${GROUP_DEVICES - 1}::integer
        and ${matches(sql, audience)}
    ) matching`;
  return row?.devices ?? 0;
}
