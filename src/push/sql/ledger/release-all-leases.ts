/**
 * Ends every lease. Only for a process that alone holds the embedded database, and has just
 * started. The leases expire and are not deleted, because a claim sees in this way that a part was
 * lost in the middle and not given back.
 */

import type { SqlPool } from '../../../database/sql.ts';

export const releaseAllLeases = (sql: SqlPool): Promise<unknown> =>
  sql.begin((tx) => [
    tx`update chunks set lease_until = now() where lease_until > now()`,
    tx`update retries set lease_until = now() where lease_until > now()`,
    // A receiver that failed rests on.
    tx`update webhooks set not_before = now() where not_before > now() and failures = 0`,
  ]);
