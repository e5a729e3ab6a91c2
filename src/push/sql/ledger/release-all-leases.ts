/**
 * Ends every lease, for a process that alone holds the embedded database and has just started. They
 * expire, and are not deleted: a claim sees that a part was lost.
 */

import type { SqlPool } from '../../../database/sql.ts';

export const releaseAllLeases = (sql: SqlPool): Promise<unknown> =>
  sql.begin((tx) => [
    tx`update chunks set lease_until = now() where lease_until > now()`,
    tx`update retries set lease_until = now() where lease_until > now()`,
    // A receiver that failed rests on.
    tx`update webhooks set not_before = now() where not_before > now() and failures = 0`,
  ]);
