/** Lists apps that were deleted, and of which something is left. */

import type { Sql } from '../database/sql.ts';
import type { Scope } from '../domain/device.ts';

export interface AppDeletion {
  readonly appId: number;
  readonly clientId: number;
  readonly platformIds: readonly number[];
  /** The time of deletion, by the database's clock. */
  readonly deletedAtMs: number;
}

/** Lists those after `afterId`, by the apps' ids. */
export const listAppDeletions = (
  sql: Sql,
  afterId: number,
  limit: number,
): Promise<readonly AppDeletion[]> =>
  sql<AppDeletion[]>`
    select app_id as "appId", client_id as "clientId", platform_ids as "platformIds",
      extract(epoch from deleted_at)::float8 * 1000 as "deletedAtMs"
    from app_deletions where app_id > ${afterId} order by app_id limit ${limit}`;

/**
 * More would take seconds.
 * @limit devices of a deleted app that `removals` counts, on a platform → it says so many
 */
const COUNTED_MAX = 1_000_000;

export interface AppDeletionLeft {
  readonly appId: number;
  readonly name: string;
  readonly deletedAtMs: number;
  /** Devices that are not erased yet, counted up to a million on each platform. */
  readonly left: readonly (Scope & { readonly devices: number })[];
}

/** Lists those of a client after `afterId`, in the order of their apps' ids. */
export const listAppDeletionsLeft = (
  sql: Sql,
  clientId: number,
  { afterId, limit }: { readonly afterId: number; readonly limit: number },
): Promise<readonly AppDeletionLeft[]> =>
  sql<AppDeletionLeft[]>`
    select a.app_id as "appId", a.name,
      floor(extract(epoch from a.deleted_at) * 1000)::float8 as "deletedAtMs",
      (
        select coalesce(json_agg(json_build_object('appId', a.app_id, 'platformId', p.id, 'devices', (
          select count(*) from (
            select from devices d where d.app_id = a.app_id and d.platform_id = p.id limit ${COUNTED_MAX}::integer
          ) as counted
        )) order by p.id), '[]')
        from unnest(a.platform_ids) as p(id)
      ) as "left"
    from app_deletions a
    where a.client_id = ${clientId} and a.app_id > ${afterId}
    order by a.app_id limit ${limit}`;
