/** The credentials of a client that work, those in their grace included; no secrets. */

import type { Sql } from '../../database/sql.ts';

/** With the names of the interface; times are epoch milliseconds. */
interface ListedCredential {
  readonly id: number;
  /** Null: the super user's. */
  readonly appId: number | null;
  readonly userName: string;
  readonly createdAt: number;
  /** Null: it is the one in force. */
  readonly expiresAt: number | null;
}

/** The key after which the next page begins: 0 for the app is the super user's. */
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
    select id, app_id as "appId", username as "userName",
      floor(extract(epoch from created_at) * 1000)::float8 as "createdAt",
      floor(extract(epoch from expires_at) * 1000)::float8 as "expiresAt"
    from credentials
    where client_id = ${clientId} and (expires_at is null or expires_at > now())
      and (coalesce(app_id, 0), id) > (${afterAppId}::integer, ${afterId}::integer)
    order by coalesce(app_id, 0), id limit ${limit}`;
