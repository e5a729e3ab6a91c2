/**
 * A dedicated connection for transactions of one or two round trips: BEGIN travels with the first
 * statements, COMMIT with the last ones. The driver's `begin` waits for each of them, and a round
 * trip costs both sides more than a short statement.
 */

import type { DatabaseAddress, Sql, SqlPool } from './sql.ts';
import { CLOSE_TIMEOUT_SECONDS, connect } from './sql.ts';
import { againAfterDeadlock, STATEMENT_MS_MAX } from './transact.ts';

/** Sent as one simple query, before the first statement of the transaction has an answer. */
const BEGIN = [
  'begin',
  `set local statement_timeout = ${STATEMENT_MS_MAX}`,
  `set local idle_in_transaction_session_timeout = ${STATEMENT_MS_MAX}`,
].join(';');

/**
 * Settings for a dedicated connection whose statements look up each element of arrays of many
 * lengths. A plan is made once: PostgreSQL would otherwise plan again for each length, which takes
 * longer than the statement. And it finds rows by index, one after the other: a plan for small
 * tables would be kept while they grow.
 *
 * That is not enough where a table was vacuumed while it was empty, as `chunks` mostly is: then a
 * join seems to be cheapest from the table's side, all of it for each row. So these statements join
 * by `id = any (array[row.id])` on the first column of the key. PostgreSQL can look that up, and
 * can neither merge nor hash by it.
 */
export const PLANS_ARE_KEPT = [
  'set local plan_cache_mode = force_generic_plan',
  'set local enable_seqscan = off',
  'set local enable_hashjoin = off',
  'set local enable_mergejoin = off',
  // A statement that reads only a key's columns would go through all of an index that seemed to be
  // empty.
  'set local enable_indexonlyscan = off',
  // A plan type that is off counts as very expensive, and a statement that seems expensive is
  // compiled, for seconds.
  'set local jit = off',
] as const;

/** Callers must run one transaction at a time. */
export class DedicatedConnection {
  private readonly sql: SqlPool;
  private readonly begin: string;
  /** Number of connections that have ended. */
  private closed = 0;

  /** `settings`: statements that come first in each transaction. */
  constructor(address: DatabaseAddress, settings: readonly string[]) {
    this.begin = [BEGIN, ...settings].join(';');
    // The driver must not replace the connection for its age: in the middle of a transaction, the
    // new one would run the second half as statements of their own.
    this.sql = connect(address, 1, {
      max_lifetime: null,
      onclose: () => {
        this.closed += 1;
      },
    });
  }

  /**
   * Runs `first`, then `last` with its result, and commits (READ COMMITTED); repeats all of it
   * after a deadlock. `last` must issue its statements at once: the COMMIT is sent right after
   * them.
   */
  transact<Found, Result>(
    first: (tx: Sql) => Promise<Found>,
    last: (tx: Sql, found: Found) => Promise<Result>,
  ): Promise<Result> {
    return this.insist(() => this.inTwo(first, last));
  }

  /**
   * Runs `work`, which issues all of its statements at once, and commits, in one round trip;
   * repeats all of it after a deadlock. It rejects when the connection is lost meanwhile; some of
   * the statements may then have run, each by itself. So `work` must be safe to repeat.
   */
  transactAtOnce<Result>(work: (tx: Sql) => Promise<Result>): Promise<Result> {
    return this.insist(() => this.inOne(work));
  }

  close(): Promise<void> {
    return this.sql.end({ timeout: CLOSE_TIMEOUT_SECONDS });
  }

  private insist<Result>(attempt: () => Promise<Result>): Promise<Result> {
    return againAfterDeadlock(async () => {
      try {
        return await attempt();
      } catch (error) {
        await this.rollBack();
        throw error;
      }
    });
  }

  private async inTwo<Found, Result>(
    first: (tx: Sql) => Promise<Found>,
    last: (tx: Sql, found: Found) => Promise<Result>,
  ): Promise<Result> {
    const { sql, closed } = this;
    const [, found] = await Promise.all([this.sendBegin(), first(sql)]);
    // The driver would send the second half over a new connection, outside of any transaction.
    if (this.closed !== closed) throw new Error('the connection was lost in a transaction');
    const [answer] = await Promise.all([last(sql, found), this.commit()]);
    return answer;
  }

  private async inOne<Result>(work: (tx: Sql) => Promise<Result>): Promise<Result> {
    const [, answer] = await Promise.all([this.sendBegin(), work(this.sql), this.commit()]);
    return answer;
  }

  /**
   * The driver sends a query when it is awaited. Without `execute`, BEGIN would follow the
   * statements that are awaited first, and these would be transactions of their own.
   */
  private sendBegin(): Promise<unknown> {
    return this.sql.unsafe(this.begin).simple().execute();
  }

  /**
   * Without `execute`: COMMIT would overtake the statements before it, which are sent when they are
   * awaited. After a failed statement it rolls back, without an error.
   */
  private commit(): Promise<unknown> {
    return this.sql.unsafe('commit').simple();
  }

  /**
   * Runs after the statements that are still on their way; does nothing when the transaction or the
   * connection is over. Its own error is dropped: the caller gets the earlier one.
   */
  private async rollBack(): Promise<void> {
    await this.sql
      .unsafe('rollback')
      .simple()
      .catch(() => undefined);
  }
}
