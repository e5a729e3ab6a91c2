/** Reads which client an app belongs to. Null: the app does not exist. */

import type { Sql } from '../sql.ts';

export async function findAppClient(
  sql: Sql,
  appId: number,
): Promise<{ readonly clientId: number; readonly clientSlug: string } | null> {
  const [row] = await sql<{ clientId: number; clientSlug: string }[]>`
    select clients.id as "clientId", clients.slug as "clientSlug"
    from apps join clients on clients.id = apps.client_id
    where apps.id = ${appId}`;
  return row ?? null;
}
