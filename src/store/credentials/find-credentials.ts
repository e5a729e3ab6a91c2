/**
 * Finds whom tokens (by hash) and user names belong to, many at a time: one query however many callers ask at once.
 * Credentials that have ended are not found; those of a disabled client are, so that the answer can say so.
 */

import type { Sql } from '../sql.ts';

export interface CredentialRow {
  readonly username: string;
  readonly tokenHash: Buffer;
  readonly passwordHash: Buffer;
  readonly clientId: number;
  readonly clientSlug: string;
  readonly appId: number | null;
  readonly disabled: boolean;
  /** Until it ends, by the database's clock; null: it has no end. */
  readonly remainingMs: number | null;
}

export interface FoundCredentials {
  readonly rows: readonly CredentialRow[];
  /** Under which these are what they are (access-revision.ts). */
  readonly revision: string;
}

/** Nothing but the revision, where none was found. */
type Row = { readonly revision: string | null } & (CredentialRow | { readonly username: null });

export async function findCredentials(
  sql: Sql,
  tokenHashes: readonly Buffer[],
  usernames: readonly string[],
): Promise<FoundCredentials> {
  // In one statement: revision and rows are of the same moment.
  const rows = await sql<Row[]>`
    select (select revision from access_revision), found.*
    from (select) as one left join (
      select credentials.username,
        credentials.token_hash as "tokenHash",
        credentials.password_hash as "passwordHash",
        clients.id as "clientId",
        clients.slug as "clientSlug",
        credentials.app_id as "appId",
        clients.disabled_at is not null as disabled,
        (extract(epoch from credentials.expires_at - now()) * 1000)::float8 as "remainingMs"
      from credentials join clients on clients.id = credentials.client_id
      where (credentials.token_hash = any(
            array(select decode(hash, 'hex') from unnest(${hexOf(tokenHashes)}::text[]) as hash))
          or credentials.username = any(${usernames as string[]}::text[]))
        and (credentials.expires_at is null or credentials.expires_at > now())
    ) as found on true`;
  return {
    rows: rows.filter((row): row is Row & CredentialRow => row.username !== null),
    revision: rows[0]?.revision ?? '',
  };
}

/** In hex, because the driver takes an array of Buffers for a single one. */
const hexOf = (hashes: readonly Buffer[]): string[] => hashes.map((hash) => hash.toString('hex'));
