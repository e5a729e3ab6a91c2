/**
 * Runs a transaction that cannot hold its locks for long, and repeats it when it has conflicted
 * with another one.
 */

import { tryAgain } from '../std/try-again.ts';
import { faultOf } from './faults.ts';
import type { Sql, SqlPool } from './sql.ts';

/**
 * Limit of one statement, waits for locks included, and of the silence between two. A node that
 * froze in the middle of a transaction loses the transaction after this, so that its locks do not
 * stop every other node.
 * @limit one statement in a `transact`, and silence in it → rolled back: `503`, or tried again by
 * its owner
 */
export const STATEMENT_MS_MAX = 10_000;
/**
 * Deadlocks end one of two transactions, so a few tries are plenty.
 * @limit tries after a deadlock → `503`
 */
const TRIES_MAX = 5;

/**
 * Runs `work` in a transaction (READ COMMITTED) and commits; repeats all of it after a deadlock.
 */
export const transact = <T>(sql: SqlPool, work: (tx: Sql) => Promise<T>): Promise<T> =>
  againAfterDeadlock(async () => {
    const results = await sql.begin(async (tx) => {
      // The driver sends a query when it is awaited. Without `execute`, the limit would follow the
      // first query of `work`, which would then have none.
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
