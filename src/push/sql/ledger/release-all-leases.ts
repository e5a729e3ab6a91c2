/**
 * Ends every lease, for a process that alone holds the database: an embedded one that has just
 * started, or a copy on which no engine has run. They expire, and are not deleted: a claim sees
 * that a part was lost.
 */

import type { Sql } from '../../../database/sql.ts';

/** Takes a transaction. */
export const releaseAllLeases = (tx: Sql): Promise<unknown> =>
  Promise.all([
    tx`update chunks set lease_until = now() where lease_until > now()`,
    tx`update retries set lease_until = now() where lease_until > now()`,
    // A receiver that failed rests on.
    tx`update webhooks set not_before = now() where not_before > now() and failures = 0`,
  ]);
