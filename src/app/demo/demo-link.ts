/** The link of a demo's start signs in to the demo client, once; each start ends the one before. */

import type { MadeLink } from '../../access/accounts/links.ts';
import { makeLink } from '../../access/accounts/links.ts';
import type { Secrets } from '../../access/secrets.ts';
import { findAccount, insertAccount } from '../../access/sql/accounts.ts';
import { deleteLinksOf } from '../../access/sql/links.ts';
import { insertMembership } from '../../access/sql/memberships.ts';
import { findClient } from '../../clients/find-client.ts';
import type { SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';

/** A placeholder: no mail is ever sent to it. */
const EMAIL = 'demo@localhost';

/** Makes the account if there is none; it has no password. */
export const makeDemoLink = (
  sql: SqlPool,
  secrets: Secrets,
  clientSlug: string,
): Promise<MadeLink> =>
  transact(sql, async (tx) => {
    const client = await findClient(tx, clientSlug);
    const made = await insertAccount(tx, { email: EMAIL, passwordHash: null });
    const accountId = made ?? (await findAccount(tx, EMAIL))?.id;
    if (client === null || accountId === undefined) throw new Error('The demo was not made');
    await insertMembership(tx, { clientId: client.id, accountId, role: 'owner' });
    await deleteLinksOf(tx, accountId);
    return makeLink(tx, secrets, { kind: 'sign-in', accountId });
  });
