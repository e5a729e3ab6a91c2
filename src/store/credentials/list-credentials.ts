/** The credentials of a client that work, those in their grace included; no secrets. */

import type { Sql } from '../sql.ts';

export interface ListedCredential {
  /** Null: the super user's. */
  readonly appId: number | null;
  readonly username: string;
  readonly createdAtMs: number;
  /** Null: it is the one in force. */
  readonly expiresAtMs: number | null;
}

export const listCredentials = (sql: Sql, clientId: number): Promise<readonly ListedCredential[]> =>
  sql<ListedCredential[]>`
    select app_id as "appId", username,
      floor(extract(epoch from created_at) * 1000)::float8 as "createdAtMs",
      floor(extract(epoch from expires_at) * 1000)::float8 as "expiresAtMs"
    from credentials
    where client_id = ${clientId} and (expires_at is null or expires_at > now())
    order by app_id nulls first, id`;
