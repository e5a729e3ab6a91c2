/** Accounts of the operator: made, and helped to a new password. */

import type { SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { Secrets } from '../secrets.ts';
import {
  findAccount,
  insertAccount,
  lockAccount,
  setOperator,
  writePassword,
} from '../sql/accounts.ts';
import { deleteLinksOf } from '../sql/links.ts';
import { deleteSessionsOf } from '../sql/sessions.ts';
import type { MadeLink } from './links.ts';
import { makeLink } from './links.ts';

/**
 * Makes an operator's account, and a link to set its password. An existing account loses password
 * and sessions: another person may have signed up with this address. Null: deleted meanwhile.
 */
export const addOperator = (
  sql: SqlPool,
  secrets: Secrets,
  email: string,
): Promise<MadeLink | null> =>
  transact(sql, async (tx) => {
    const made = await insertAccount(tx, { email, passwordHash: null });
    const accountId = made ?? (await findAccount(tx, email))?.id;
    if (accountId === undefined) return null;
    await lockAccount(tx, accountId);
    await writePassword(tx, accountId, null);
    await deleteSessionsOf(tx, accountId);
    await deleteLinksOf(tx, accountId);
    await setOperator(tx, email, true);
    return makeLink(tx, secrets, { kind: 'reset', accountId, clientId: null });
  });

/** Makes a link by which any account gets a new password. Null: there is no such account. */
export const resetAccount = (
  sql: SqlPool,
  secrets: Secrets,
  email: string,
): Promise<MadeLink | null> =>
  transact(sql, async (tx) => {
    const found = await findAccount(tx, email);
    if (found === null) return null;
    const accountId = found.id;
    await lockAccount(tx, accountId);
    await deleteLinksOf(tx, accountId);
    return makeLink(tx, secrets, { kind: 'reset', accountId, clientId: null });
  });
