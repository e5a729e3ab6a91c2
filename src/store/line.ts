/**
 * A connection of its own for transactions of two round trips: BEGIN travels with the first statements, COMMIT with the
 * last ones. `begin` of the driver waits for each of them, and a round trip costs both sides more than a short statement.
 */

import { faultOf } from './faults.ts';
import type { DatabaseAddress, Sql, SqlPool } from './sql.ts';
import { CLOSE_TIMEOUT_SECONDS, connect } from './sql.ts';
import { STATEMENT_MS_MAX, TRIES_MAX } from './transact.ts';

/**
 * One simple query, sent whole before anything is known of the transaction. Plans are made once, for PostgreSQL would plan
 * anew for arrays of each length, which takes longer than the statement; and they find rows by index, one after the other,
 * because a plan for small tables would be kept while they grow.
 */
const BEGIN = [
  'begin',
  `set local statement_timeout = ${STATEMENT_MS_MAX}`,
  `set local idle_in_transaction_session_timeout = ${STATEMENT_MS_MAX}`,
  'set local plan_cache_mode = force_generic_plan',
  'set local enable_seqscan = off',
  'set local enable_hashjoin = off',
  'set local enable_mergejoin = off',
].join(';');

/** One transaction at a time: whoever has it sees to that. */
export class Line {
  private readonly sql: SqlPool;
  /** Connections that have ended. */
  private closed = 0;

  constructor(address: DatabaseAddress) {
    // Never replaced for its age: that could come in the middle of a transaction, whose second half a new connection
    // would take for statements of their own.
    this.sql = connect(address, 1, {
      max_lifetime: null,
      onclose: () => {
        this.closed += 1;
      },
    });
  }

  /**
   * Runs `first`, then `last` with what it found, and commits (READ COMMITTED); again, whole, after a deadlock. `last` must
   * issue its statements at once: the COMMIT goes out behind them.
   */
  async transact<Found, Result>(
    first: (tx: Sql) => Promise<Found>,
    last: (tx: Sql, found: Found) => Promise<Result>,
  ): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.attempt(first, last);
      } catch (error) {
        if (attempt === TRIES_MAX || faultOf(error) !== 'conflict') throw error;
      }
    }
  }

  close(): Promise<void> {
    return this.sql.end({ timeout: CLOSE_TIMEOUT_SECONDS });
  }

  private async attempt<Found, Result>(
    first: (tx: Sql) => Promise<Found>,
    last: (tx: Sql, found: Found) => Promise<Result>,
  ): Promise<Result> {
    const { sql, closed } = this;
    try {
      // A query goes out when it is waited for: without `execute` behind the ones that `first` waits for, which would then be
      // transactions of their own.
      const begin = sql.unsafe(BEGIN).simple().execute();
      const [, found] = await Promise.all([begin, first(sql)]);
      // The driver would send the second half over a new connection, outside of any transaction.
      if (this.closed !== closed) throw new Error('the connection was lost in a transaction');
      const result = last(sql, found);
      // After a statement that failed it rolls back, and says nothing.
      const [answer] = await Promise.all([result, sql.unsafe('commit').simple()]);
      return answer;
    } catch (error) {
      // Behind what is still on its way; nothing to do when the transaction or the connection is over. The first error is
      // the one to tell.
      await sql
        .unsafe('rollback')
        .simple()
        .catch(() => undefined);
      throw error;
    }
  }
}
