/**
 * Sessions of people who have signed in. A known one is answered from memory under a revision of
 * the database (decision 57), so one that was ended is refused within a second on every node.
 */

import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Sql } from '../../database/sql.ts';
import type { Caller, KeyScope, MemberRole } from '../../domain/caller.ts';
import type { Session } from '../../domain/session.ts';
import { Batcher } from '../../std/batcher.ts';
import { CappedMap } from '../../std/capped-map.ts';
import { randomSecret } from '../random-text.ts';
import { KnownRevision } from '../revision.ts';
import type { Secrets } from '../secrets.ts';
import type { SessionRow } from '../sql/sessions.ts';
import { findSessions, insertSession, readSessionRevision } from '../sql/sessions.ts';

/**
 * A session ends so long after it was last used: a working day with its breaks.
 * @limit a session unused → `401`
 */
const SESSION_IDLE_MS = 43_200_000;
/**
 * However much it is used: a week.
 * @limit a session in all → `401`
 */
const SESSION_MAX_MS = 604_800_000;
/**
 * Of one account: browsers that it uses, and some that were left behind. The oldest one ends.
 * @limit sessions of an account → the oldest ends
 */
const SESSIONS_PER_ACCOUNT_MAX = 20;
/**
 * After this time a session is looked up again, which writes down that it is used.
 * @limit a session is remembered for → the database is asked
 */
const REMEMBERED_MS = 60_000;
/**
 * Sessions in memory: about 500 bytes each, and their memberships.
 * @limit sessions in memory → the database is asked
 */
const REMEMBERED_MAX = 5_000;
/**
 * Memberships of all of them together: about 500 bytes each, 1 KiB with the longest names. A person
 * has one or two. Whoever has many of the largest accounts fills 20 MB.
 * @limit memberships of all sessions in memory → the oldest sessions are forgotten: the database is
 * asked
 */
const REMEMBERED_MEMBERSHIPS_MAX = 20_000;
/**
 * Tokens of none, about 200 bytes each.
 * @limit tokens of no session in memory → the database is asked
 */
const REFUSED_MAX = 10_000;
/** @limit a token of no session is remembered for → the database is asked */
const REFUSED_MS = 2_000;
/**
 * Tokens of one query.
 * @limit sessions looked up in one query; one such query at a time → the next query
 */
const BATCH_MAX = 1_000;

const SESSION_PREFIX = 'tcn_';

/** A session, or none: it has ended, or never was. */
export type KnownSession = Session | 'ended';

interface Remembered {
  readonly known: KnownSession;
  readonly revision: string;
  readonly untilMs: number;
}

interface Finding {
  readonly row: SessionRow | null;
  readonly revision: string;
}

export class Sessions {
  readonly #secrets: Secrets;
  readonly #now: () => number;
  readonly #revision: KnownRevision;
  readonly #known = new CappedMap<string, Remembered>({
    sizeMax: REMEMBERED_MAX,
    weightMax: REMEMBERED_MEMBERSHIPS_MAX,
  });
  readonly #refused = new CappedMap<string, Remembered>({ sizeMax: REFUSED_MAX });
  readonly #lookUps: Batcher<readonly Buffer[], Finding>;
  /** No token stays in memory. */
  readonly #salt = randomBytes(32).toString('base64');

  constructor(sql: Sql, secrets: Secrets, monotonicMs: () => number = () => performance.now()) {
    this.#secrets = secrets;
    this.#now = monotonicMs;
    this.#revision = new KnownRevision(() => readSessionRevision(sql), monotonicMs);
    this.#lookUps = new Batcher({
      itemsMax: BATCH_MAX,
      weightMax: Number.POSITIVE_INFINITY,
      weightOf: () => 0,
      run: (asked) => lookUp(sql, asked),
    });
  }

  /** The session from memory. Null: the store has to be asked. */
  recall(token: string): KnownSession | null {
    const key = this.#keyOf(token);
    const remembered = this.#known.get(key) ?? this.#refused.get(key);
    if (remembered === undefined) return null;
    const isCurrent = this.#now() < remembered.untilMs && this.#revision.holds(remembered.revision);
    return isCurrent ? remembered.known : null;
  }

  /** Answers at once if the session is in memory, after one query if not. */
  authenticate(token: string): KnownSession | Promise<KnownSession> {
    return this.recall(token) ?? this.#ask(token);
  }

  /** Whether a request of the session of this token has its CSRF token. */
  isCsrfToken(token: string, given: string): boolean {
    const presented = Buffer.from(given);
    return this.#secrets
      .lookupHashes(csrfTextOf(token))
      .map((digest) => Buffer.from(digest.toString('base64url')))
      .some((right) => right.length === presented.length && timingSafeEqual(right, presented));
  }

  async #ask(token: string): Promise<KnownSession> {
    const askedAtMs = this.#now();
    const { row, revision } = await this.#lookUps.submit(this.#secrets.lookupHashes(token));
    this.#revision.stand(revision, askedAtMs);
    const key = this.#keyOf(token);
    this.#known.delete(key);
    this.#refused.delete(key);
    if (row === null) {
      this.#refused.set(key, { known: 'ended', revision, untilMs: askedAtMs + REFUSED_MS });
      return 'ended';
    }
    const known = sessionOf(row, csrfTokenOf(this.#secrets, token));
    const untilMs = askedAtMs + Math.min(REMEMBERED_MS, row.remainingMs);
    this.#known.set(key, { known, revision, untilMs }, known.memberships.length);
    return known;
  }

  #keyOf(token: string): string {
    return hash('sha256', this.#salt + token, 'base64');
  }
}

/**
 * Makes a session within a transaction that has locked the account. Returns its token. `replaced`:
 * the token whose place it takes in the browser; that session ends, since nobody would see it again
 * and end it.
 */
export async function openSession(
  tx: Sql,
  secrets: Secrets,
  accountId: number,
  replaced: string | null = null,
): Promise<string> {
  const token = SESSION_PREFIX + randomSecret();
  await insertSession(tx, {
    accountId,
    tokenHash: secrets.lookupHash(token),
    lifetimeMs: SESSION_MAX_MS,
    sessionsMax: SESSIONS_PER_ACCOUNT_MAX,
    replaced: replaced === null ? [] : secrets.lookupHashes(replaced),
  });
  return token;
}

/** The scopes of the members who are no owners. */
const SCOPES: Readonly<Record<Exclude<MemberRole, 'owner'>, readonly KeyScope[]>> = {
  publisher: ['send', 'read'],
  viewer: ['read'],
};

/** The account as a caller of one of its clients. Null: it does not belong to such a client. */
export function memberOf(session: Session, clientSlug: string): Caller | 'disabled' | null {
  const membership = session.memberships.find((one) => one.clientSlug === clientSlug);
  if (membership === undefined) return null;
  if (membership.isDisabled) return 'disabled';
  const { clientId, role, limits } = membership;
  const { accountId, email } = session;
  const caller: Omit<Caller, 'role'> = {
    clientId,
    clientSlug,
    appId: null,
    userName: email,
    method: 'session',
    account: { id: accountId, email, role },
    ...(limits === null ? {} : { limits }),
  };
  if (role === 'owner') return { ...caller, role: 'super-user' };
  const key = { id: null, scopes: SCOPES[role], ...UNLIMITED };
  return { ...caller, role: 'key', key };
}

const UNLIMITED = { tagIds: null, groupIds: null, appIds: null, maxDevices: null } as const;

async function lookUp(
  sql: Sql,
  asked: readonly (readonly Buffer[])[],
): Promise<readonly Finding[]> {
  const { rows, revision } = await findSessions(sql, asked.flat(), SESSION_IDLE_MS);
  const byHash = new Map(rows.map((row) => [row.tokenHash.toString('latin1'), row]));
  return asked.map((hashes) => {
    const row = hashes.map((digest) => byHash.get(digest.toString('latin1'))).find(isThere);
    return { row: row ?? null, revision };
  });
}

const isThere = (row: SessionRow | undefined): row is SessionRow => row !== undefined;

const sessionOf = ({ remainingMs: _, ...row }: SessionRow, csrfToken: string): Session => ({
  ...row,
  // Roles are checked when they are given.
  memberships: row.memberships.map((one) => ({ ...one, role: one.role as MemberRole })),
  csrfToken,
});

const csrfTextOf = (token: string): string => `csrf ${token}`;
const csrfTokenOf = (secrets: Secrets, token: string): string =>
  secrets.lookupHash(csrfTextOf(token)).toString('base64url');
