/** Runs a transaction that cannot hold its locks for long; repeats it after a conflict. */

import { tryAgain } from '../std/try-again.ts';
import { faultOf } from './faults.ts';
import type { Sql, SqlPool } from './sql.ts';

/**
 * Waits for locks included. A node that froze loses its transaction, and so its locks.
 * @limit one statement in a `transact`, and silence in it → rolled back: `503`, or tried again by
 * its owner
 */
export const STATEMENT_MS_MAX = 10_000;
/** @limit tries after a deadlock → `503` */
const TRIES_MAX = 5;

/** Runs `work` in a transaction (READ COMMITTED); repeats all of it after a deadlock. */
export const transact = <T>(sql: SqlPool, work: (tx: Sql) => Promise<T>): Promise<T> =>
  againAfterDeadlock(async () => {
    const results = await sql.begin(async (tx) => {
      // Without `execute`, the limit would follow the first query of `work`.
      const limited = limitTime(tx).execute();
      return [await Promise.all([limited, work(tx)]).then(([, result]) => result)];
    });
    return results[0] as T;
  });

/** Runs a whole transaction, and repeats it when it has conflicted with another one. */
export const againAfterDeadlock = <T>(work: () => Promise<T>): Promise<T> =>
  tryAgain(TRIES_MAX, (error) => faultOf(error) === 'conflict', work);

/** Travels with the first statement of `work`: no round trip of its own. */
const limitTime = (tx: Sql) => tx`
  select set_config('statement_timeout', ${String(STATEMENT_MS_MAX)}, true),
         set_config('idle_in_transaction_session_timeout', ${String(STATEMENT_MS_MAX)}, true)`;
