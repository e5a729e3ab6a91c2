/** Sessions of the console: made at sign-in, found by the hash of their token, ended. */

import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type { ClientLimits } from '../../domain/client-limits.ts';

interface MembershipRow {
  readonly clientId: number;
  readonly clientSlug: string;
  readonly clientName: string;
  readonly role: string;
  readonly isDisabled: boolean;
  /** Those that an operator has set. */
  readonly limits: ClientLimits | null;
  readonly hasPolicies: boolean;
}

export interface SessionRow {
  readonly tokenHash: Buffer;
  readonly accountId: number;
  readonly email: string;
  readonly isOperator: boolean;
  /** Memberships by the clients' slugs. */
  readonly memberships: readonly MembershipRow[];
  readonly endsAtMs: number;
  /** Time until an unused session ends, by the database's clock. */
  readonly remainingMs: number;
}

interface FoundSessions {
  readonly rows: readonly SessionRow[];
  readonly revision: string;
}

/** Also the revision of access: members learn of a disabled client as credentials do. */
const revisionOf = (sql: Sql) => sql`
  concat((select revision from access_revision), ' ', (select revision from session_revision))`;

/** It changes whenever a session may work no longer, or may do something else (decision 43). */
export async function readSessionRevision(sql: Sql): Promise<string> {
  const [row] = await sql<{ revision: string }[]>`select ${revisionOf(sql)} as revision`;
  return row?.revision ?? '';
}

type Row = { readonly revision: string } & (SessionRow | { readonly tokenHash: null });

const decoded = (sql: Sql, tokenHashes: readonly Buffer[]) => sql`
  select decode(hash, 'hex') as token_hash
  from unnest(${list(tokenHashes.map((hash) => hash.toString('hex')))}::text[]) as hash`;

/**
 * Finds sessions and notes their use, once in 30 seconds. A session that another transaction writes
 * down or ends is left to it: no look-up waits.
 */
export async function findSessions(
  sql: Sql,
  tokenHashes: readonly Buffer[],
  idleMs: number,
): Promise<FoundSessions> {
  const idle = sql`make_interval(secs => ${idleMs}::float8 / 1000)`;
  // In one statement: revision and rows are of the same moment.
  const rows = await sql<Row[]>`
    with asked as materialized (
      ${decoded(sql, tokenHashes)}
    ),
    working as materialized (
      select s.* from sessions s
      where s.token_hash = any(array(select token_hash from asked))
        and s.ends_at > now() and s.last_used_at > now() - ${idle}
    ),
    used as (
      update sessions set last_used_at = now()
      where token_hash = any(array(
        select token_hash from sessions
        where token_hash in (select token_hash from working where last_used_at < now() - interval '30 seconds')
        for no key update skip locked
      ))
    )
    select ${revisionOf(sql)} as revision, found.*
    from (select) as one left join (
      select w.token_hash as "tokenHash", a.id as "accountId", a.email, a.is_operator as "isOperator",
        floor(extract(epoch from w.ends_at) * 1000)::float8 as "endsAtMs",
        (extract(epoch from least(w.ends_at, now() + ${idle}) - now()) * 1000)::float8 as "remainingMs",
        coalesce((
          select json_agg(json_build_object('clientId', c.id, 'clientSlug', c.slug, 'clientName', c.name,
            'role', m.role, 'isDisabled', c.disabled_at is not null, 'limits', c.limits, 'hasPolicies', c.policies is not null) order by c.slug)
          from memberships m join clients c on c.id = m.client_id
          where m.account_id = a.id and c.deleted_at is null
        ), '[]') as memberships
      from working w join accounts a on a.id = w.account_id
    ) as found on true`;
  return {
    rows: rows.filter((row): row is Row & SessionRow => row.tokenHash !== null),
    revision: rows[0]?.revision ?? '',
  };
}

interface NewSession {
  readonly accountId: number;
  readonly tokenHash: Buffer;
  readonly lifetimeMs: number;
  /** Sessions of one account; the oldest ones make room. */
  readonly sessionsMax: number;
  /** Hashes of the token whose place it takes: that session ends. */
  readonly replaced: readonly Buffer[];
}

/** Within a transaction that has locked the account. */
export async function insertSession(tx: Sql, session: NewSession): Promise<void> {
  const { accountId, tokenHash, lifetimeMs, sessionsMax, replaced } = session;
  await tx`update accounts set last_signed_in_at = now() where id = ${accountId}`;
  await tx`
    insert into sessions (token_hash, account_id, ends_at)
    values (${tokenHash}, ${accountId}, now() + make_interval(secs => ${lifetimeMs}::float8 / 1000))`;
  // One statement: it has the rows before it changes the revision of sessions, as who signs out.
  await tx`
    delete from sessions where token_hash in (
      (
        select token_hash from sessions where account_id = ${accountId}
        order by created_at desc offset ${sessionsMax}
      )
      union ${decoded(tx, replaced)}
    )`;
}

/** `tokenHashes`: of its token, one for each key of the secrets. */
export async function deleteSession(sql: Sql, tokenHashes: readonly Buffer[]): Promise<void> {
  await sql`delete from sessions where token_hash in (${decoded(sql, tokenHashes)})`;
}

export async function deleteSessionsOf(sql: Sql, accountId: number): Promise<void> {
  await sql`delete from sessions where account_id = ${accountId}`;
}

/**
 * Deletes sessions that have ended, or that were not used since a time. A session whose row is
 * locked goes the next time. Returns how many, at most `limit`.
 */
export async function deleteEndedSessions(
  sql: Sql,
  unusedSinceMs: number,
  limit: number,
): Promise<number> {
  const deleted = await sql`
    delete from sessions where token_hash = any(array(
      select token_hash from sessions
      where ends_at < now() or last_used_at < to_timestamp(${unusedSinceMs}::float8 / 1000)
      limit ${limit} for update skip locked
    ))`;
  return deleted.count;
}
