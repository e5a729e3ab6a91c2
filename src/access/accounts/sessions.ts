/**
 * Sessions of people who have signed in. A known one is answered from memory under a revision of
 * the database (decision 43), so one that was ended is refused within a second on every node.
 */

import { timingSafeEqual } from 'node:crypto';
import type { Sql } from '../../database/sql.ts';
import type { Caller, KeyScope, MemberRole } from '../../domain/caller.ts';
import type { Session } from '../../domain/session.ts';
import { Batcher } from '../../std/batcher.ts';
import { randomSecret } from '../random-text.ts';
import type { Finding } from '../remembered.ts';
import { Remembered } from '../remembered.ts';
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
 * Browsers that an account uses, and some that it has abandoned. The oldest one ends.
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
 * About 500 bytes each, 1 KiB with the longest names: 20 MB at most. A person has one or two.
 * @limit memberships of all sessions in memory → the oldest sessions are forgotten: the database is
 * asked
 */
const REMEMBERED_MEMBERSHIPS_MAX = 20_000;
/** @limit sessions looked up in one query; one such query at a time → the next query */
const BATCH_MAX = 1_000;

const SESSION_PREFIX = 'tcn_';

/** A session, or none: it has ended, or never was. */
export type KnownSession = Session | 'ended';

export class Sessions {
  readonly #secrets: Secrets;
  readonly #remembered: Remembered<KnownSession, 'sessions'>;
  readonly #lookUps: Batcher<readonly Buffer[], Finding<SessionRow>>;

  constructor(sql: Sql, secrets: Secrets, monotonicMs: () => number = () => performance.now()) {
    this.#secrets = secrets;
    this.#remembered = new Remembered({
      shelves: { sessions: { sizeMax: REMEMBERED_MAX, weightMax: REMEMBERED_MEMBERSHIPS_MAX } },
      monotonicMs,
      readRevision: () => readSessionRevision(sql),
    });
    this.#lookUps = new Batcher({ itemsMax: BATCH_MAX, run: (asked) => lookUp(sql, asked) });
  }

  /** The session from memory. Null: the store has to be asked. */
  recall(token: string): KnownSession | null {
    return this.#remembered.recall(token);
  }

  /** Answers at once if the session is in memory, after one query if not. */
  authenticate(token: string): KnownSession | Promise<KnownSession> {
    return this.recall(token) ?? this.#ask(token);
  }

  isCsrfToken(token: string, given: string): boolean {
    const presented = Buffer.from(given);
    return this.#secrets
      .lookupHashes(csrfTextOf(token))
      .map((digest) => Buffer.from(digest.toString('base64url')))
      .some((right) => right.length === presented.length && timingSafeEqual(right, presented));
  }

  #ask(token: string): Promise<KnownSession> {
    return this.#remembered.ask(
      token,
      () => this.#lookUps.submit(this.#secrets.lookupHashes(token)),
      (row) => {
        if (row === null) return { known: 'ended', shelf: 'refused' };
        const known = sessionOf(row, csrfTokenOf(this.#secrets, token));
        const keptMs = Math.min(REMEMBERED_MS, row.remainingMs);
        return { known, shelf: 'sessions', keptMs, weight: known.memberships.length };
      },
    );
  }
}

/**
 * Makes a session in a transaction that has locked the account; returns its token. `replaced`: the
 * browser's token before, whose session ends.
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

const SCOPES: Readonly<Record<Exclude<MemberRole, 'owner'>, readonly KeyScope[]>> = {
  publisher: ['send', 'read'],
  viewer: ['read'],
};

/** The account as a caller of one of its clients. Null: it does not belong to such a client. */
export function memberOf(session: Session, clientSlug: string): Caller | 'disabled' | null {
  const membership = session.memberships.find((one) => one.clientSlug === clientSlug);
  if (membership === undefined) return null;
  if (membership.isDisabled) return 'disabled';
  const { clientId, role, limits, hasPolicies } = membership;
  const { accountId, email } = session;
  const caller: Omit<Caller, 'role'> = {
    clientId,
    clientSlug,
    appId: null,
    userName: email,
    method: 'session',
    account: { id: accountId, email, role },
    ...(limits === null ? {} : { limits }),
    ...(hasPolicies ? { hasPolicies: true } : {}),
  };
  if (role === 'owner') return { ...caller, role: 'super-user' };
  const key = { id: null, scopes: SCOPES[role], ...UNLIMITED };
  return { ...caller, role: 'key', key };
}

const UNLIMITED = { tagIds: null, groupIds: null, appIds: null, maxDevices: null } as const;

async function lookUp(
  sql: Sql,
  asked: readonly (readonly Buffer[])[],
): Promise<readonly Finding<SessionRow>[]> {
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
