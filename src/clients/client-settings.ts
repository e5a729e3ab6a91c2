/** The settings that the owners of a client have made. */

import type { Sql } from '../database/sql.ts';
import type { ClientSettings } from '../domain/client-settings.ts';
import { CLIENT_SETTING_DEFAULTS } from '../domain/client-settings.ts';

export async function readClientSettings(sql: Sql, clientId: number): Promise<ClientSettings> {
  const [row] = await sql<{ settings: Partial<ClientSettings> | null }[]>`
    select settings from clients where id = ${clientId}`;
  return { ...CLIENT_SETTING_DEFAULTS, ...row?.settings };
}

/** Within a transaction that holds the client. Settings of a later version stay as they are. */
export async function writeClientSettings(
  sql: Sql,
  clientId: number,
  settings: ClientSettings,
): Promise<void> {
  await sql`
    update clients set settings = coalesce(settings, '{}') || ${JSON.stringify(settings)}::text::jsonb
    where id = ${clientId}`;
}
