/**
 * Deletes an app at once for callers and sends; the rest is erased in the background (decision 50).
 */

import { raiseCatalogueVersion } from '../../clients/lock-client.ts';
import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type { App } from './read-apps.ts';

/** The caller of it holds the client's lock, and has read the app in the same transaction. */
export async function deleteApp(tx: Sql, clientId: number, app: App): Promise<void> {
  const { id, name, platformIds } = app;
  await tx`
    insert into app_deletions (app_id, client_id, name, platform_ids)
    values (${id}, ${clientId}, ${name}, ${list(platformIds)}::smallint[])`;
  await tx`delete from credentials where app_id = ${id}`;
  await tx`delete from app_parameters where app_id = ${id}`;
  await tx`delete from credential_health where app_id = ${id}`;
  await tx`delete from app_platforms where app_id = ${id}`;
  await tx`delete from apps where id = ${id}`;
  await raiseCatalogueVersion(tx, clientId);
}
