/** One-time links: kept by the hash of their token, and gone once they are used. */

import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';

const LINK_KINDS = ['invitation', 'sign-up', 'reset', 'sign-in'] as const;
type LinkKind = (typeof LINK_KINDS)[number];

export interface LinkRow {
  readonly kind: LinkKind;
  /** The client of an invitation; for a reset, the client whose owner asked for it. */
  readonly clientId: number | null;
  readonly role: string | null;
  readonly accountId: number | null;
}

interface NewLink extends LinkRow {
  readonly tokenHash: Buffer;
  readonly lifetimeMs: number;
}

/** Answers when it ends, by the database's clock. */
export async function insertLink(sql: Sql, link: NewLink): Promise<number> {
  const [row] = await sql<{ endsAtMs: number }[]>`
    insert into one_time_links (token_hash, kind, client_id, role, account_id, ends_at)
    values (${link.tokenHash}, ${link.kind}, ${link.clientId}, ${link.role}, ${link.accountId},
      now() + make_interval(secs => ${link.lifetimeMs}::float8 / 1000))
    returning floor(extract(epoch from ends_at) * 1000)::float8 as "endsAtMs"`;
  return row?.endsAtMs ?? 0;
}

const hashesOf = (tokenHashes: readonly Buffer[]): string =>
  list(tokenHashes.map((hash) => hash.toString('hex')));

export interface FoundLink extends LinkRow {
  readonly tokenHash: Buffer;
}

/** Those that still work, of many tokens: they stay. */
export const findLinks = (
  sql: Sql,
  tokenHashes: readonly Buffer[],
): Promise<readonly FoundLink[]> =>
  sql<FoundLink[]>`
    select token_hash as "tokenHash", kind, client_id as "clientId", role, account_id as "accountId"
    from one_time_links
    where token_hash in (select decode(hash, 'hex') from unnest(${hashesOf(tokenHashes)}::text[]) as hash)
      and ends_at > now()`;

/** Uses a link: of callers at once, one gets it. */
export async function takeLink(tx: Sql, tokenHashes: readonly Buffer[]): Promise<LinkRow | null> {
  const [row] = await tx<LinkRow[]>`
    delete from one_time_links
    where token_hash in (select decode(hash, 'hex') from unnest(${hashesOf(tokenHashes)}::text[]) as hash)
      and ends_at > now()
    returning kind, client_id as "clientId", role, account_id as "accountId"`;
  return row ?? null;
}

export async function countLinks(sql: Sql, clientId: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) from one_time_links where client_id = ${clientId} and ends_at > now()`;
  return row?.count ?? 0;
}

/** A new link for an account, or a new password, ends the links before. */
export async function deleteLinksOf(sql: Sql, accountId: number): Promise<void> {
  await sql`delete from one_time_links where account_id = ${accountId}`;
}

/**
 * Ends the links of a client that still work. The client is locked. Those that have ended are left
 * to the housekeeping: two that delete many rows at once would wait for each other.
 */
export async function deleteOpenLinks(tx: Sql, clientId: number): Promise<void> {
  await tx`delete from one_time_links where client_id = ${clientId} and ends_at > now()`;
}

/**
 * Deletes links that ended before a time, except locked ones. Answers how many, at most `limit`.
 */
export async function deleteEndedLinks(
  sql: Sql,
  endedBeforeMs: number,
  limit: number,
): Promise<number> {
  const deleted = await sql`
    delete from one_time_links where token_hash = any(array(
      select token_hash from one_time_links where ends_at < to_timestamp(${endedBeforeMs}::float8 / 1000)
      limit ${limit} for update skip locked
    ))`;
  return deleted.count;
}
