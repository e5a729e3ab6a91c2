/** The credentials in force of a client and its apps, to be shown: the newest without an end. */

import type { Sql } from '../../database/sql.ts';
import type { SealedSecrets } from './read-credential.ts';

export interface CredentialInForce extends SealedSecrets {
  /** Null: the super user's. */
  readonly appId: number | null;
  /** Null for the same reason. */
  readonly appName: string | null;
}

/** The super user's first, then by app. */
export const listCredentialsInForce = (
  sql: Sql,
  clientId: number,
  limit: number,
): Promise<readonly CredentialInForce[]> =>
  sql<CredentialInForce[]>`
    select distinct on (coalesce(c.app_id, 0)) c.app_id as "appId", a.name as "appName", c.username,
      c.token_sealed as "tokenSealed", c.password_sealed as "passwordSealed", c.key_id as "keyId"
    from credentials c left join apps a on a.id = c.app_id
    where c.client_id = ${clientId} and c.expires_at is null
    order by coalesce(c.app_id, 0), c.id desc limit ${limit}`;
