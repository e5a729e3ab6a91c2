/** Deletes a client at once for callers and sends; the rest is erased in the background. */

import { lockClient } from '../../clients/lock-client.ts';
import type { Sql } from '../../database/sql.ts';

/** `enabled`: it has to be disabled first. */
type DeletedClient = 'deleted' | 'enabled' | 'unknown';

/** In the transaction of its caller. The slug is free again when all is erased. */
export async function deleteClient(tx: Sql, slug: string): Promise<DeletedClient> {
  const [client] = await tx<{ id: number; isDisabled: boolean }[]>`
    select id, disabled_at is not null as "isDisabled" from clients
    where slug = ${slug} and deleted_at is null`;
  if (client === undefined) return 'unknown';
  if (!client.isDisabled) return 'enabled';
  const { id } = client;
  await lockClient(tx, id);
  await tx`
    insert into app_deletions (app_id, client_id, name, platform_ids)
    select a.id, a.client_id, a.name,
      coalesce(array_agg(p.platform_id order by p.platform_id) filter (where p.platform_id is not null), '{}')
    from apps a left join app_platforms p on p.app_id = a.id
    where a.client_id = ${id} group by a.id`;
  await tx`delete from credentials where client_id = ${id}`;
  await tx`delete from client_keys where client_id = ${id}`;
  // Housekeeping deletes their events.
  await tx`delete from webhooks where client_id = ${id}`;
  const apps = tx`select id from apps where client_id = ${id}`;
  await tx`delete from app_parameters where app_id in (${apps})`;
  await tx`delete from credential_health where app_id in (${apps})`;
  await tx`delete from app_platforms where app_id in (${apps})`;
  await tx`delete from apps where client_id = ${id}`;
  await tx`
    update clients set deleted_at = now(), catalogue_version = catalogue_version + 1 where id = ${id}`;
  return 'deleted';
}
