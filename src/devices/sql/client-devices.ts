/** How many devices the client of an app may have, and has at most. */

import type { Sql } from '../../database/sql.ts';
import type { ClientLimits } from '../../domain/client-limits.ts';

interface ClientDevices {
  readonly clientId: number;
  readonly limits: ClientLimits;
  /** Ordinals given out on all platforms of all its apps: it has no more devices. */
  readonly ordinals: number;
}

export async function readClientDevices(sql: Sql, appId: number): Promise<ClientDevices | null> {
  const [row] = await sql<(Omit<ClientDevices, 'limits'> & { limits: ClientLimits | null })[]>`
    select c.id as "clientId", limits, (
      select coalesce(sum(next_ordinal), 0)::float8
      from apps join app_platforms on app_id = apps.id where client_id = c.id
    ) as ordinals
    from clients c where id = (select client_id from apps where id = ${appId})`;
  return row === undefined ? null : { ...row, limits: row.limits ?? {} };
}

/** Counts them, up to `countMax`. */
export async function countClientDevices(
  sql: Sql,
  clientId: number,
  countMax: number,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from (
      select 1 from devices
      where (app_id, platform_id) in (
        select app_id, platform_id from apps join app_platforms on app_id = apps.id where client_id = ${clientId}
      )
      limit ${countMax}::integer
    ) as counted`;
  return row?.count ?? 0;
}
