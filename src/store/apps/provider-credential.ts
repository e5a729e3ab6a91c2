/** The sealed credential of a provider for one (app, platform): reading, putting and clearing it. */

import type { Sql } from '../sql.ts';

export interface SealedCredential {
  readonly sealed: Buffer;
  readonly keyId: string;
}

/** Undefined: the app is not on this platform. Null: it is, and has no credential. */
export async function readSealedCredential(
  sql: Sql,
  appId: number,
  platformId: number,
): Promise<SealedCredential | null | undefined> {
  const [row] = await sql<{ sealed: Buffer | null; keyId: string | null }[]>`
    select credential_sealed as sealed, credential_key_id as "keyId" from app_platforms
    where app_id = ${appId} and platform_id = ${platformId}`;
  if (row === undefined) return undefined;
  return row.sealed === null || row.keyId === null
    ? null
    : { sealed: row.sealed, keyId: row.keyId };
}

/** Answers whether the app is on this platform. */
export async function writeSealedCredential(
  sql: Sql,
  appId: number,
  platformId: number,
  credential: SealedCredential | null,
): Promise<boolean> {
  const rows = await sql`
    update app_platforms set
      credential_sealed = ${credential?.sealed ?? null},
      credential_key_id = ${credential?.keyId ?? null},
      credential_updated_at = now()
    where app_id = ${appId} and platform_id = ${platformId}
    returning 1`;
  return rows.length > 0;
}
