/** Stores a further key of a client: its hash to find it by, and what it may do. */

import type { Sql } from '../../database/sql.ts';
import { list, textList } from '../../database/sql.ts';

interface NewKey {
  readonly clientId: number;
  readonly name: string;
  readonly username: string;
  readonly tokenHash: Buffer;
  readonly tokenSealed: Buffer;
  readonly keyId: string;
  readonly scopes: readonly string[];
  readonly tagIds: readonly number[] | null;
  readonly groupIds: readonly number[] | null;
  readonly appIds: readonly number[] | null;
  readonly maxDevices: number | null;
  readonly expiresAtMs: number | null;
}

export async function insertKey(sql: Sql, key: NewKey): Promise<number> {
  const rows = await sql<{ id: number }[]>`
    insert into client_keys (client_id, name, username, token_hash, token_sealed, key_id, scopes,
      tag_ids, group_ids, app_ids, max_devices, expires_at)
    values (${key.clientId}, ${key.name}, ${key.username}, ${key.tokenHash}, ${key.tokenSealed}, ${key.keyId},
      ${textList(key.scopes)}::text[], ${listOrNull(key.tagIds)}::integer[], ${listOrNull(key.groupIds)}::integer[],
      ${listOrNull(key.appIds)}::integer[], ${key.maxDevices}, to_timestamp(${key.expiresAtMs}::float8 / 1000))
    returning id`;
  return rows[0]?.id ?? 0;
}

const listOrNull = (ids: readonly number[] | null): string | null =>
  ids === null ? null : list(ids);
