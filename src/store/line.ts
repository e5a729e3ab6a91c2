/**
 * A connection of its own for transactions of one or two round trips: BEGIN travels with the first
 * statements, COMMIT with the last ones. `begin` of the driver waits for each of them, and a round
 * trip costs both sides more than a short statement.
 */

import type { DatabaseAddress, Sql, SqlPool } from './sql.ts';
import { CLOSE_TIMEOUT_SECONDS, connect } from './sql.ts';
import { againAfterDeadlock, STATEMENT_MS_MAX } from './transact.ts';

/** Sent whole, as one simple query, before anything is known of the transaction. */
const BEGIN = [
  'begin',
  `set local statement_timeout = ${STATEMENT_MS_MAX}`,
  `set local idle_in_transaction_session_timeout = ${STATEMENT_MS_MAX}`,
].join(';');

/**
 * Settings of a line whose arrays are of all lengths, and of which each row is looked up. Plans are
 * made once, for PostgreSQL would plan anew for arrays of each length, which takes longer than the
 * statement; and they find rows by index, one after the other, because a plan for small tables
 * would be kept while they grow.
 */
export const PLANS_ARE_KEPT = [
  'set local plan_cache_mode = force_generic_plan',
  'set local enable_seqscan = off',
  'set local enable_hashjoin = off',
  'set local enable_mergejoin = off',
] as const;

/** One transaction at a time: whoever has it sees to that. */
export class Line {
  private readonly sql: SqlPool;
  private readonly begin: string;
  /** Connections that have ended. */
  private closed = 0;

  /** `settings`: statements that come first in each transaction. */
  constructor(address: DatabaseAddress, settings: readonly string[]) {
    this.begin = [BEGIN, ...settings].join(';');
    // Never replaced for its age: that could come in the middle of a transaction, whose second half
    // a new connection would take for statements of their own.
    this.sql = connect(address, 1, {
      max_lifetime: null,
      onclose: () => {
        this.closed += 1;
      },
    });
  }

  /**
   * Runs `first`, then `last` with what it found, and commits (READ COMMITTED); again, whole, after
   * a deadlock. `last` must issue its statements at once: the COMMIT goes out behind them.
   */
  transact<Found, Result>(
    first: (tx: Sql) => Promise<Found>,
    last: (tx: Sql, found: Found) => Promise<Result>,
  ): Promise<Result> {
    return this.insist(() => this.inTwo(first, last));
  }

  /**
   * Runs `work`, which issues all of its statements at once, and commits, in one round trip; again,
   * whole, after a deadlock. When the connection is lost meanwhile it rejects, and a part of the
   * statements may have been done, each by itself: so `work` is such that it may be done again.
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
   * A query goes out when it is waited for: without `execute` behind the ones that are waited for
   * first, which would then be transactions of their own.
   */
  private sendBegin(): Promise<unknown> {
    return this.sql.unsafe(this.begin).simple().execute();
  }

  /**
   * Not executed, or it would overtake the statements before it, which go out when they are waited
   * for. After one that failed it rolls back, and says nothing.
   */
  private commit(): Promise<unknown> {
    return this.sql.unsafe('commit').simple();
  }

  /**
   * Behind what is still on its way; nothing to do when the transaction or the connection is over.
   * The error before it is the one to tell.
   */
  private async rollBack(): Promise<void> {
    await this.sql
      .unsafe('rollback')
      .simple()
      .catch(() => undefined);
  }
}
