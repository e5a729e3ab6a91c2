/**
 * Lets all credentials of an app (or, with null, of the super user) end after the grace period;
 * none ends later than it would have.
 */

import type { Sql } from '../../database/sql.ts';

export async function expireCredentials(
  sql: Sql,
  clientId: number,
  appId: number | null,
  graceHours: number,
): Promise<void> {
  await sql`
    update credentials
    set expires_at = least(expires_at, now() + make_interval(hours => ${graceHours}::integer))
    where client_id = ${clientId} and app_id is not distinct from ${appId}::integer
      and (expires_at is null or expires_at > now())`;
}
