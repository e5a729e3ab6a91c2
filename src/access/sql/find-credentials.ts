/**
 * Finds owners of tokens (by hash; keys too) and user names, many in one query. Those of a disabled
 * client are found, so that the answer can say so; those that have ended are not.
 */

import type { Sql } from '../../database/sql.ts';
import { list, textList } from '../../database/sql.ts';
import type { ClientLimits } from '../../domain/client-limits.ts';

export interface CredentialRow {
  readonly username: string;
  readonly tokenHash: Buffer;
  /** Null: a key has none. */
  readonly passwordHash: Buffer | null;
  readonly clientId: number;
  readonly clientSlug: string;
  readonly limits: ClientLimits | null;
  readonly hasPolicies: boolean;
  readonly appId: number | null;
  readonly disabled: boolean;
  /** Time until it ends, by the database's clock; null: it has no end. */
  readonly remainingMs: number | null;
  /** Null: a credential, not a further key. */
  readonly key: KeyRow | null;
}

/** The rights of a further key. */
interface KeyRow {
  readonly id: number;
  readonly scopes: readonly string[];
  readonly tagIds: readonly number[] | null;
  readonly groupIds: readonly number[] | null;
  /** Those that are still there; none left: []. */
  readonly appIds: readonly number[] | null;
  readonly maxDevices: number | null;
}

export interface FoundCredentials {
  readonly rows: readonly CredentialRow[];
  /** The access revision under which the rows were read (access-revision.ts). */
  readonly revision: string;
}

/** Where no credential was found, one row with the revision only. */
type Row = { readonly revision: string | null } & (CredentialRow | { readonly username: null });

export async function findCredentials(
  sql: Sql,
  tokenHashes: readonly Buffer[],
  usernames: readonly string[],
): Promise<FoundCredentials> {
  // In one statement: revision and rows are of the same moment.
  const rows = await sql<Row[]>`
    with hashes as materialized (
      select decode(hash, 'hex') as hash from unnest(${list(tokenHashes.map((hash) => hash.toString('hex')))}::text[]) as hash
    ),
    found as (
      select username, token_hash, password_hash, client_id, app_id, expires_at, null::json as key
      from credentials
      where token_hash = any(array(select hash from hashes)) or username = any(${textList(usernames)}::text[])
      union all
      select username, token_hash, null, client_id, null, expires_at,
        json_build_object('id', id, 'scopes', scopes, 'tagIds', tag_ids, 'groupIds', group_ids, 'appIds',
          -- Deleting an app raises the revision, for its own credential goes with it.
          case when app_ids is not null then array(
            select a.id from apps a where a.client_id = client_keys.client_id and a.id = any (app_ids) order by a.id
          ) end, 'maxDevices', max_devices)
      from client_keys
      where token_hash = any(array(select hash from hashes))
    )
    select (select revision from access_revision), working.*
    from (select) as one left join (
      select username, token_hash as "tokenHash", password_hash as "passwordHash", clients.id as "clientId",
        clients.slug as "clientSlug", clients.limits, clients.policies is not null as "hasPolicies", app_id as "appId", clients.disabled_at is not null as disabled,
        (extract(epoch from expires_at - now()) * 1000)::float8 as "remainingMs", key
      from found join clients on clients.id = found.client_id
      where expires_at is null or expires_at > now()
    ) as working on true`;
  return {
    rows: rows.filter((row): row is Row & CredentialRow => row.username !== null),
    revision: rows[0]?.revision ?? '',
  };
}
