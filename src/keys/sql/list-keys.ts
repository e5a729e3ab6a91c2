/** Lists and counts the further keys of a client, ended ones too, without secrets. */

import type { Sql } from '../../database/sql.ts';
import type { KeyScope } from '../../domain/caller.ts';

interface ListedKey {
  readonly id: number;
  readonly name: string;
  readonly userName: string;
  readonly scopes: readonly KeyScope[];
  readonly tagIds: readonly number[] | null;
  readonly groupIds: readonly number[] | null;
  readonly appIds: readonly number[] | null;
  readonly maxDevices: number | null;
  readonly expiresAt: number | null;
  readonly createdAt: number;
  /** To within a minute. Null: never. */
  readonly lastUsedAt: number | null;
}

export const listKeys = (
  sql: Sql,
  clientId: number,
  { afterId, limit }: { readonly afterId: number; readonly limit: number },
): Promise<readonly ListedKey[]> =>
  sql<ListedKey[]>`
    select id, name, username as "userName", scopes, tag_ids as "tagIds", group_ids as "groupIds", app_ids as "appIds",
      max_devices as "maxDevices",
      round(extract(epoch from expires_at) * 1000)::float8 as "expiresAt",
      floor(extract(epoch from created_at) * 1000)::float8 as "createdAt",
      floor(extract(epoch from last_used_at) * 1000)::float8 as "lastUsedAt"
    from client_keys where client_id = ${clientId} and id > ${afterId} order by id limit ${limit}`;

export async function countKeys(sql: Sql, clientId: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) from client_keys where client_id = ${clientId}`;
  return row?.count ?? 0;
}
