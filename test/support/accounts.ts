/** Accounts of people in a store, and their sessions: what tests of the console sign in with. */

import { AccountLookup } from '../../src/access/accounts/account-lookup.ts';
import { Attempts } from '../../src/access/accounts/attempts.ts';
import { LinkLookup } from '../../src/access/accounts/links.ts';
import type { Costs } from '../../src/access/accounts/passwords.ts';
import { Passwords } from '../../src/access/accounts/passwords.ts';
import { openSession, Sessions } from '../../src/access/accounts/sessions.ts';
import type { AccountParts } from '../../src/access/accounts/sign-in.ts';
import { SignInRecords } from '../../src/access/accounts/sign-in-records.ts';
import { Failures } from '../../src/access/failures.ts';
import { insertAccount, setOperator } from '../../src/access/sql/accounts.ts';
import { insertMembership } from '../../src/access/sql/memberships.ts';
import type { ConsoleApi } from '../../src/api/console-routes.ts';
import type { SqlPool } from '../../src/database/sql.ts';
import type { Store } from '../../src/database/store.ts';
import { transact } from '../../src/database/transact.ts';
import type { MemberRole } from '../../src/domain/caller.ts';
import { jobCanceller } from '../../src/push/cancel-jobs.ts';
import { secrets } from './api.ts';
import { SILENT_JOURNAL } from './silent-journal.ts';

export const PASSWORD = 'correct horse battery';

/** The origin of no engine: who wants to come from elsewhere says so. */
export const ELSEWHERE = 'https://elsewhere.example';

/** A hash of these takes a millisecond: a sign-in in a test is about what follows it. */
export const LOW_COSTS: Costs = { cost: 512, blockSize: 8, parallelization: 1 };

/** The parts that functions of accounts need; no attempt was made yet. */
export const makeAccountParts = ({ sql }: Store): AccountParts => ({
  sql,
  secrets,
  passwords: new Passwords(LOW_COSTS),
  attempts: new Attempts(),
  accounts: new AccountLookup(sql),
  links: new LinkLookup(sql, secrets),
  guesses: { note: () => undefined },
  records: new SignInRecords(sql, () => undefined),
});

/** The parts that routes of the console need. */
export const makeConsoleApi = (store: Store): ConsoleApi => ({
  ...makeAccountParts(store),
  sessions: new Sessions(store.sql, secrets),
  mode: 'open',
  failures: new Failures(),
  cancelJobs: jobCanceller({ sql: store.sql, journal: SILENT_JOURNAL }),
  patientReads: store.patientReads,
  readSystem: () => Promise.reject(new Error('there is no system in this test')),
});

export interface NewAccount {
  readonly email: string;
  readonly password?: string;
  readonly isOperator?: boolean;
  readonly roles?: readonly (readonly [clientId: number, role: MemberRole])[];
}

/** Without a password it can sign in with none. */
export async function addAccount(
  sql: SqlPool,
  { email, password, isOperator = false, roles = [] }: NewAccount,
): Promise<number> {
  const passwordHash =
    password === undefined
      ? null
      : await new Passwords(LOW_COSTS).hash(password, { network: 'of a test', isKnown: false });
  const accountId = await insertAccount(sql, { email, passwordHash });
  if (accountId === null) throw new Error(`${email} is taken`);
  if (isOperator) await setOperator(sql, email, true);
  for (const [clientId, role] of roles) {
    await insertMembership(sql, { clientId, accountId, role });
  }
  return accountId;
}

export interface SignedIn {
  readonly accountId: number;
  readonly token: string;
  readonly cookie: string;
  readonly csrfToken: string;
  /** Headers of a request that our own page makes with this session. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Begins a session for an account, as a sign-in does. */
export async function beginSession(sql: SqlPool, accountId: number): Promise<SignedIn> {
  const token = await transact(sql, (tx) => openSession(tx, secrets, accountId));
  const session = await new Sessions(sql, secrets).authenticate(token);
  if (session === 'ended') throw new Error('the session has ended already');
  const cookie = `tagcast_session=${token}`;
  const { csrfToken } = session;
  const headers = { Cookie: cookie, 'X-CSRF-Token': csrfToken, 'Sec-Fetch-Site': 'same-origin' };
  return { accountId, token, cookie, csrfToken, headers };
}

/** The same for a new account. */
export const signUpAndIn = async (sql: SqlPool, account: NewAccount): Promise<SignedIn> =>
  beginSession(sql, await addAccount(sql, account));
