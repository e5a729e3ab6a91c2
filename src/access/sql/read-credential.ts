/** The credential in force of an app (null: the super user): the newest without an end. */

import type { Sql } from '../../database/sql.ts';

export interface SealedSecrets {
  readonly username: string;
  readonly tokenSealed: Buffer;
  readonly passwordSealed: Buffer;
  readonly keyId: string;
}

export async function readCredential(
  sql: Sql,
  clientId: number,
  appId: number | null,
): Promise<SealedSecrets | null> {
  const [row] = await sql<SealedSecrets[]>`
    select username, token_sealed as "tokenSealed", password_sealed as "passwordSealed", key_id as "keyId"
    from credentials
    where client_id = ${clientId} and app_id is not distinct from ${appId}::integer and expires_at is null
    order by id desc
    limit 1`;
  return row ?? null;
}
