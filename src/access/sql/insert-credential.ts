/** Stores a credential: hashes to find it by, sealed copies to show it again. */

import type { Sql } from '../../database/sql.ts';

interface NewCredential {
  readonly clientId: number;
  /** Null: a super user. */
  readonly appId: number | null;
  readonly username: string;
  readonly tokenHash: Buffer;
  readonly tokenSealed: Buffer;
  readonly passwordHash: Buffer;
  readonly passwordSealed: Buffer;
  readonly keyId: string;
}

export async function insertCredential(sql: Sql, credential: NewCredential): Promise<void> {
  await sql`
    insert into credentials
      (client_id, app_id, username, token_hash, token_sealed, password_hash, password_sealed, key_id)
    values (${credential.clientId}, ${credential.appId}, ${credential.username},
      ${credential.tokenHash}, ${credential.tokenSealed},
      ${credential.passwordHash}, ${credential.passwordSealed}, ${credential.keyId})`;
}
