/** Counts the devices of one (app, platform). */

import type { Sql } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';

export async function countDevices(
  sql: Sql,
  { appId, platformId }: Scope,
  countMax: number,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from (
      select 1 from devices where app_id = ${appId} and platform_id = ${platformId} limit ${countMax}
    ) as counted`;
  return row?.count ?? 0;
}
