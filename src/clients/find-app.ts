/** Which apps belong to which client. */

import type { Sql } from '../database/sql.ts';
import { list } from '../database/sql.ts';

/** Whose it is. Null: there is no such app. */
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

export async function findAppName(
  sql: Sql,
  clientId: number,
  appId: number,
): Promise<string | null> {
  const [row] = await sql<{ name: string }[]>`
    select name from apps where id = ${appId} and client_id = ${clientId}`;
  return row?.name ?? null;
}

export async function findOwnApps(
  sql: Sql,
  clientId: number,
  appIds: readonly number[],
): Promise<readonly number[]> {
  const rows = await sql<{ id: number }[]>`
    select id from apps where client_id = ${clientId} and id = any(${list(appIds)}::integer[])`;
  return rows.map(({ id }) => id);
}
