/**
 * Ends every lease: only for whoever holds the embedded database, alone, and has just started. They
 * end by their time and are not taken away: a claim tells by that what was given back from what was
 * lost in the middle.
 */

import type { SqlPool } from '../sql.ts';

export const releaseAllLeases = (sql: SqlPool): Promise<unknown> =>
  sql.begin((tx) => [
    tx`update chunks set lease_until = now() where lease_until > now()`,
    tx`update retries set lease_until = now() where lease_until > now()`,
  ]);
