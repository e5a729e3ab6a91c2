/** Signs people in, out, and changes their passwords. */

import { networkOf } from '../../../packages/std/src/ip-address.ts';
import type { AccountEvent } from '../../audit/record-for-account.ts';
import { shareClientsOf } from '../../audit/record-for-account.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { Guesses } from '../guesses.ts';
import type { Secrets } from '../secrets.ts';
import type { AccountRow } from '../sql/accounts.ts';
import { lockAccount, readAccount, writePassword } from '../sql/accounts.ts';
import { deleteLinksOf } from '../sql/links.ts';
import { belongsToOnly } from '../sql/memberships.ts';
import { deleteSessionsOf } from '../sql/sessions.ts';
import type { AccountLookup } from './account-lookup.ts';
import type { Attempts } from './attempts.ts';
import type { LinkLookup } from './links.ts';
import { useLink } from './links.ts';
import type { Asker, Passwords } from './passwords.ts';
import { openSession } from './sessions.ts';
import type { RecordedAccount, SignInOrigin, SignInRecords } from './sign-in-records.ts';

export interface AccountParts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
  readonly passwords: Passwords;
  readonly attempts: Attempts;
  readonly accounts: Pick<AccountLookup, 'find'>;
  readonly links: Pick<LinkLookup, 'find'>;
  readonly guesses: Pick<Guesses, 'note'>;
  readonly records: SignInRecords;
}

/** The reason why a password was not looked at. */
export type Unheard =
  | { readonly kind: 'wait'; readonly retryAfterMs: number }
  | { readonly kind: 'busy' };

export type SignedIn =
  | { readonly kind: 'signed-in'; readonly token: string }
  | { readonly kind: 'wrong' }
  | Unheard;

type Checked =
  | { readonly kind: 'right'; readonly account: AccountRow }
  | { readonly kind: 'wrong'; readonly account: AccountRow | null }
  | Unheard;

/** Whether this is the account's password: an attempt, as slow where no account has the e-mail. */
export async function checkPassword(
  { accounts, passwords, attempts }: Pick<AccountParts, 'accounts' | 'passwords' | 'attempts'>,
  email: string,
  password: string,
  { address }: SignInOrigin,
): Promise<Checked> {
  const retryAfterMs = attempts.begin(email, address);
  if (retryAfterMs > 0) return { kind: 'wait', retryAfterMs };
  const account = await accounts.find(email);
  const stored = account?.passwordHash ?? null;
  const isRight = await passwords.verify(password, stored, askerOf(attempts, email, address));
  if (isRight === 'busy') {
    attempts.withdraw(email, address);
    return { kind: 'busy' };
  }
  if (!isRight || account === null) return { kind: 'wrong', account };
  attempts.succeeded(email, address);
  return { kind: 'right', account };
}

export function noteWrongPassword(
  { guesses, records }: Pick<AccountParts, 'guesses' | 'records'>,
  account: AccountRow | null,
  from: SignInOrigin,
): void {
  guesses.note('password', from.address);
  if (account !== null) records.refuse(account, from);
}

function refusalOf(
  parts: AccountParts,
  checked: Exclude<Checked, { readonly kind: 'right' }>,
  from: SignInOrigin,
): SignedIn {
  if (checked.kind !== 'wrong') return checked;
  noteWrongPassword(parts, checked.account, from);
  return { kind: 'wrong' };
}

export const askerOf = (attempts: Attempts, email: string, address: string): Asker => ({
  network: networkOf(address),
  isKnown: attempts.isKnown(email, address),
});

/** Locks an account whose password was right; whether it still is: it may have been changed. */
export async function lockUnchanged(
  tx: Sql,
  { id, passwordHash }: Pick<AccountRow, 'id' | 'passwordHash'>,
): Promise<boolean> {
  await lockAccount(tx, id);
  return (await readAccount(tx, id))?.passwordHash === passwordHash;
}

/** Signs in with e-mail and password. `replaced`: as for `openSession`. */
export async function signIn(
  parts: AccountParts,
  email: string,
  password: string,
  from: SignInOrigin,
  replaced: string | null = null,
): Promise<SignedIn> {
  const checked = await checkPassword(parts, email, password, from);
  if (checked.kind !== 'right') return refusalOf(parts, checked, from);
  const { account } = checked;
  return transact(parts.sql, async (tx) => {
    const clientIds = await shareClientsOf(tx, account.id);
    if (!(await lockUnchanged(tx, account))) return { kind: 'wrong' };
    const token = await openSession(tx, parts.secrets, account.id, replaced);
    const event = eventOf('member.sign-in', account, from, 'password');
    await parts.records.write(tx, clientIds, account, event);
    return { kind: 'signed-in', token };
  });
}

const eventOf = (
  action: 'member.sign-in' | 'member.password',
  { id, email }: RecordedAccount,
  { address, requestId }: SignInOrigin,
  by: 'password' | 'link',
): AccountEvent => ({ action, accountId: id, email, address, requestId, detail: { by } });

/** Signs in with a one-time link. Begins no transaction for one that does not exist. */
export async function signInByLink(
  { sql, secrets, links, records }: Pick<AccountParts, 'sql' | 'secrets' | 'links' | 'records'>,
  linkToken: string,
  from: SignInOrigin,
  replaced: string | null = null,
): Promise<SignedIn> {
  const link = await links.find(linkToken);
  if (link?.kind !== 'sign-in') return { kind: 'wrong' };
  return transact(sql, async (tx) => {
    const clientIds = await shareClientsOf(tx, link.accountId);
    await lockAccount(tx, link.accountId);
    const account = await readAccount(tx, link.accountId);
    const used = await useLink(tx, secrets, linkToken);
    if (used === null || account === null) return { kind: 'wrong' };
    const token = await openSession(tx, secrets, account.id, replaced);
    await records.write(tx, clientIds, account, eventOf('member.sign-in', account, from, 'link'));
    return { kind: 'signed-in', token };
  });
}

/** Changes a password; ends every session of the account, and begins a new one. */
export async function changePassword(
  parts: AccountParts,
  email: string,
  {
    currentPassword,
    newPassword,
  }: { readonly currentPassword: string; readonly newPassword: string },
  from: SignInOrigin,
): Promise<SignedIn> {
  const checked = await checkPassword(parts, email, currentPassword, from);
  if (checked.kind !== 'right') return refusalOf(parts, checked, from);
  const { account } = checked;
  const asker = askerOf(parts.attempts, email, from.address);
  const made = await parts.passwords.hash(newPassword, asker);
  if (made === 'busy') return { kind: 'busy' };
  return transact(parts.sql, async (tx) => {
    const clientIds = await shareClientsOf(tx, account.id);
    if (!(await lockUnchanged(tx, account))) return { kind: 'wrong' };
    await replacePassword(tx, account.id, made);
    const event = eventOf('member.password', account, from, 'password');
    await parts.records.write(tx, clientIds, account, event);
    return { kind: 'signed-in', token: await openSession(tx, parts.secrets, account.id) };
  });
}

type Reset = { readonly kind: 'done' } | { readonly kind: 'no-link' } | { readonly kind: 'busy' };

/** Sets a password by a one-time link, and ends every session of the account. */
export async function resetPassword(
  { sql, secrets, passwords, links, records }: AccountParts,
  { token, newPassword }: { readonly token: string; readonly newPassword: string },
  from: SignInOrigin,
): Promise<Reset> {
  // Before the hash, which is expensive: without a link there is none.
  const link = await links.find(token);
  if (link?.kind !== 'reset') return { kind: 'no-link' };
  const { accountId, clientId } = link;
  const network = networkOf(from.address);
  const made = await passwords.hash(newPassword, { network, isKnown: false });
  if (made === 'busy') return { kind: 'busy' };
  return transact(sql, async (tx) => {
    const clientIds = await shareClientsOf(tx, accountId);
    await lockAccount(tx, accountId);
    const account = await readAccount(tx, accountId);
    const used = await useLink(tx, secrets, token);
    if (used === null || account === null) return { kind: 'no-link' };
    // The account may have joined another client since: the owner of this one must not get into it.
    const mayReset = clientId === null || (await belongsToOnly(tx, clientId, accountId));
    if (!mayReset) return { kind: 'no-link' };
    await replacePassword(tx, accountId, made);
    await records.write(tx, clientIds, account, eventOf('member.password', account, from, 'link'));
    return { kind: 'done' };
  });
}

async function replacePassword(tx: Sql, accountId: number, passwordHash: string): Promise<void> {
  await writePassword(tx, accountId, passwordHash);
  await deleteSessionsOf(tx, accountId);
  await deleteLinksOf(tx, accountId);
}
