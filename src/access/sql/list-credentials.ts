/** The credentials of a client that work, those in their grace included; no secrets. */

import type { Sql } from '../../database/sql.ts';

interface ListedCredential {
  readonly id: number;
  /** Null: the super user's. */
  readonly appId: number | null;
  readonly username: string;
  readonly createdAtMs: number;
  /** Null: it is the one in force. */
  readonly expiresAtMs: number | null;
}

/** Behind which the next page begins: 0 for the app is the super user's. */
interface CredentialKey {
  readonly afterAppId: number;
  readonly afterId: number;
}

/** The super user's first, then by app. */
export const listCredentials = (
  sql: Sql,
  clientId: number,
  { afterAppId, afterId, limit }: CredentialKey & { readonly limit: number },
): Promise<readonly ListedCredential[]> =>
  sql<ListedCredential[]>`
    select id, app_id as "appId", username,
      floor(extract(epoch from created_at) * 1000)::float8 as "createdAtMs",
      floor(extract(epoch from expires_at) * 1000)::float8 as "expiresAtMs"
    from credentials
    where client_id = ${clientId} and (expires_at is null or expires_at > now())
      and (coalesce(app_id, 0), id) > (${afterAppId}::integer, ${afterId}::integer)
    order by coalesce(app_id, 0), id limit ${limit}`;
