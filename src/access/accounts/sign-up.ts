/**
 * Makes accounts: with a client of their own, if the operator allows it, or by an invitation. The
 * answer does not reveal whether an e-mail address has an account.
 */

import { recordChange } from '../../audit/record-change.ts';
import { insertClient } from '../../clients/insert-client.ts';
import { lockClient } from '../../clients/lock-client.ts';
import type { Sql } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { MemberRole } from '../../domain/caller.ts';
import { createCredential } from '../credentials.ts';
import { randomSuffix } from '../random-text.ts';
import type { Secrets } from '../secrets.ts';
import type { AccountRow } from '../sql/accounts.ts';
import { insertAccount } from '../sql/accounts.ts';
import { countMembers, countMemberships, insertMembership } from '../sql/memberships.ts';
import type { Link } from './links.ts';
import { useLink } from './links.ts';
import type { AccountParts, Unheard } from './sign-in.ts';
import { askerOf, checkPassword, lockUnchanged, noteWrongPassword } from './sign-in.ts';
import type { SignInOrigin } from './sign-in-records.ts';
import type { SignUpMode } from './sign-up-mode.ts';

/**
 * Members of a client: their list is read whole.
 * @limit members of a client → they do not join
 */
export const MEMBERS_PER_CLIENT_MAX = 500;
/**
 * Clients of an account: each look-up of its sessions reads them.
 * @limit clients of an account → it does not join
 */
const CLIENTS_PER_ACCOUNT_MAX = 100;

export interface SignUp {
  readonly email: string;
  readonly password: string;
  /** The name of the client to make. Null: the invitation is to an existing one. */
  readonly clientName: string | null;
  readonly invitation: string | null;
}

type SignedUp =
  /** Done, or not, because another account has this e-mail address: the caller cannot see which. */
  | { readonly kind: 'done' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'no-invitation' }
  /** The name of a new client is missing, or there is no new client to name. */
  | { readonly kind: 'name-missing' }
  | { readonly kind: 'name-unwanted' }
  | Unheard;

/**
 * Registers somebody. Who has an account already proves it by his password, and gets the new client
 * or membership; with another password nothing happens.
 */
export async function signUp(
  parts: AccountParts & { readonly mode: SignUpMode },
  asked: SignUp,
  from: SignInOrigin,
): Promise<SignedUp> {
  const { address, requestId } = from;
  const { email, password, clientName, invitation } = asked;
  const link = invitation === null ? null : await parts.links.find(invitation);
  const isAllowed = whyNot(parts.mode, asked, link);
  if (isAllowed !== null) return isAllowed;
  const checked = await checkPassword(parts, email, password, from);
  if (checked.kind === 'wait' || checked.kind === 'busy') return checked;
  // Also where it is not needed: so that the answer takes as long.
  const made = await parts.passwords.hash(password, askerOf(parts.attempts, email, address));
  if (made === 'busy') {
    // The answer does not reveal whether the password was right: so it is no guess.
    if (checked.kind === 'wrong') parts.attempts.withdraw(email, address);
    return { kind: 'busy' };
  }
  // Who has no account yet has guessed no password.
  if (checked.kind === 'wrong' && checked.account !== null) {
    noteWrongPassword(parts, checked.account, from);
  }
  if (checked.kind === 'right' && link?.kind !== 'invitation') {
    const retryAfterMs = parts.attempts.makeClient(checked.account.id);
    if (retryAfterMs > 0) return { kind: 'wait', retryAfterMs };
  }
  try {
    return await transact(parts.sql, async (tx) => {
      // Before its link: the removal of an owner locks the client, and then ends its links.
      if (link?.kind === 'invitation') await lockClient(tx, link.clientId);
      const used = invitation === null ? null : await useLink(tx, parts.secrets, invitation);
      if (invitation !== null && used === null) return { kind: 'no-invitation' };
      const place = await placeOf(tx, parts.secrets, used, clientName ?? '');
      const accountId =
        checked.kind === 'right'
          ? await idOfUnchanged(tx, checked.account)
          : await insertAccount(tx, { email, passwordHash: made });
      // Everything was done before this is known: so it takes as long.
      if (accountId === null) throw new Taken();
      const hasJoined = await join(tx, accountId, place);
      const { clientId, role, isNew } = place;
      const actor = { kind: 'account', id: accountId, name: email } as const;
      const origin = { clientId, actor, address, requestId };
      if (isNew) {
        const change = { action: 'client.create', id: clientId, name: clientName } as const;
        await recordChange(tx, origin, change);
      }
      if (!hasJoined) return { kind: 'done' };
      const change = { action: 'member.join', id: accountId, name: email } as const;
      await recordChange(tx, origin, { ...change, detail: { role } });
      return { kind: 'done' };
    });
  } catch (error) {
    if (error instanceof Taken) return { kind: 'done' };
    throw error;
  }
}

/** Ends the transaction, and takes back what it did. */
class Taken extends Error {}

/** Null: its password is another one by now. */
const idOfUnchanged = async (tx: Sql, account: AccountRow): Promise<number | null> =>
  (await lockUnchanged(tx, account)) ? account.id : null;

/** Null: it may go on. */
function whyNot(mode: SignUpMode, { clientName, invitation }: SignUp, link: Link | null) {
  if (invitation === null && mode !== 'open') return { kind: 'closed' } as const;
  if (invitation !== null) {
    if (link?.kind !== 'invitation' && link?.kind !== 'sign-up') {
      return { kind: 'no-invitation' } as const;
    }
    if (link.kind === 'sign-up' && mode === 'off') return { kind: 'closed' } as const;
  }
  const isMaking = link?.kind !== 'invitation';
  if (isMaking && clientName === null) return { kind: 'name-missing' } as const;
  if (!isMaking && clientName !== null) return { kind: 'name-unwanted' } as const;
  return null;
}

interface Place {
  readonly clientId: number;
  readonly role: MemberRole;
  readonly isNew: boolean;
}

/** The client that invites, which is locked, or a new one with its super user's credential. */
async function placeOf(
  tx: Sql,
  secrets: Secrets,
  link: Link | null,
  clientName: string,
): Promise<Place> {
  if (link?.kind === 'invitation') {
    return { clientId: link.clientId, role: link.role, isNew: false };
  }
  const slug = slugOf(clientName);
  const wanted = await insertClient(tx, { slug, name: clientName });
  if (wanted !== null) return owned(tx, secrets, wanted, slug);
  const other = `${slug}-${randomSuffix(SUFFIX_CHARACTERS)}`;
  const made = await insertClient(tx, { slug: other, name: clientName });
  if (made === null) throw new Error(`the slug ${other} was made by chance twice`);
  return owned(tx, secrets, made, other);
}

/** 36^8: another client with the same name does not get the same one by chance. */
const SUFFIX_CHARACTERS = 8;
/** At most; a slug may have 63. */
const SLUG_LENGTH_MAX = 40;
const FOREIGN = /[^a-z0-9]+/g;
const MARKS = /\p{M}/gu;
const HYPHENS_AROUND = /^-+|-+$/g;

/** The name in small letters, digits and hyphens, as far as it has any. */
function slugOf(name: string): string {
  const letters = name.normalize('NFKD').replace(MARKS, '').toLowerCase();
  const slug = letters.replace(FOREIGN, '-').slice(0, SLUG_LENGTH_MAX).replace(HYPHENS_AROUND, '');
  return slug === '' ? 'client' : slug;
}

async function owned(
  tx: Sql,
  secrets: Secrets,
  clientId: number,
  clientSlug: string,
): Promise<Place> {
  await createCredential(tx, secrets, { clientId, clientSlug, appId: null });
  return { clientId, role: 'owner', isNew: true };
}

/**
 * Makes the account a member, unless it would be one too many, which the answer does not reveal.
 * Returns false if it is a member already.
 */
async function join(tx: Sql, accountId: number, { clientId, role }: Place): Promise<boolean> {
  const members = await countMembers(tx, clientId);
  const memberships = await countMemberships(tx, accountId);
  if (members >= MEMBERS_PER_CLIENT_MAX || memberships >= CLIENTS_PER_ACCOUNT_MAX) {
    throw new Taken();
  }
  return await insertMembership(tx, { clientId, accountId, role });
}
