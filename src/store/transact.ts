/**
 * A transaction that cannot hold its locks for long, and is tried again when another one was in its
 * way.
 */

import { tryAgain } from '../std/try-again.ts';
import { faultOf } from './faults.ts';
import type { Sql, SqlPool } from './sql.ts';

/**
 * Of one statement, waiting for locks included, and of silence between two. A node that was frozen
 * in the middle of a transaction loses it after this, so that its locks do not stop every other
 * node.
 */
export const STATEMENT_MS_MAX = 10_000;
/** Deadlocks end one of two transactions, so a few tries are plenty. */
const TRIES_MAX = 5;

/** Runs `work` in a transaction (READ COMMITTED) and commits; again, whole, after a deadlock. */
export const transact = <T>(sql: SqlPool, work: (tx: Sql) => Promise<T>): Promise<T> =>
  againAfterDeadlock(async () => {
    const results = await sql.begin(async (tx) => {
      // A query goes out when it is waited for: without `execute` behind the first one of `work`,
      // which would have no limit.
      const limited = limitTime(tx).execute();
      return [await Promise.all([limited, work(tx)]).then(([, result]) => result)];
    });
    return results[0] as T;
  });

/** Does a whole transaction, and does it again when another one was in its way. */
export const againAfterDeadlock = <T>(work: () => Promise<T>): Promise<T> =>
  tryAgain(TRIES_MAX, (error) => faultOf(error) === 'conflict', work);

/** Travels with the first statement of `work`: no round trip of its own. */
const limitTime = (tx: Sql) => tx`
  select set_config('statement_timeout', ${String(STATEMENT_MS_MAX)}, true),
         set_config('idle_in_transaction_session_timeout', ${String(STATEMENT_MS_MAX)}, true)`;
