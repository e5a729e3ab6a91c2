/**
 * Finds the accounts of e-mail addresses, for sign-ins. Strangers may ask: addresses that come
 * during a query go into the next one, so all sign-ins share one connection to the database.
 */

import type { Sql } from '../../database/sql.ts';
import { Batcher } from '../../std/batcher.ts';
import type { AccountRow } from '../sql/accounts.ts';
import { findAccounts } from '../sql/accounts.ts';

/** @limit accounts looked up in one query; one such query at a time → the next query */
const BATCH_MAX = 1_000;

export class AccountLookup {
  readonly #batches: Batcher<string, AccountRow | null>;

  constructor(sql: Sql) {
    this.#batches = new Batcher({
      itemsMax: BATCH_MAX,
      run: async (emails) => {
        const rows = await findAccounts(sql, emails);
        const byEmail = new Map(rows.map((row) => [row.email, row]));
        return emails.map((email) => byEmail.get(email) ?? null);
      },
    });
  }

  find(email: string): Promise<AccountRow | null> {
    return this.#batches.submit(email);
  }
}
