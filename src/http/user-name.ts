/** The name under which a caller sees who has submitted something. */

import type { Caller } from '../domain/caller.ts';

/** In place of a member's e-mail address. No user name of a credential is this word. */
const MEMBER = 'member';

/**
 * A system's key has no need of a member's e-mail address: it may be another company's. Members,
 * super users and keys that administer see it, as in the audit log.
 */
export const shownUserName = (caller: Caller, userName: string): string =>
  isOfAccount(userName) && !knowsMembers(caller) ? MEMBER : userName;

/** Every address has an `@`; a user name that we have made has none. */
const isOfAccount = (userName: string): boolean => userName.includes('@');

/** Whether what belongs to members themselves is shown to a caller. */
export const knowsMembers = ({ account, key }: Caller): boolean =>
  account !== undefined || key === undefined || key.scopes.includes('admin');
