/** Voids every lease: only for whoever holds the embedded database, alone, and has just started. */

import type { SqlPool } from '../sql.ts';

export const releaseAllLeases = (sql: SqlPool): Promise<unknown> =>
  sql.begin((tx) => [
    tx`update chunks set lease_until = null where lease_until is not null`,
    tx`update retries set lease_until = null where lease_until is not null`,
  ]);
