/** A connection for short transactions: BEGIN and COMMIT travel with the statements. */

import type { DatabaseAddress, Sql, SqlPool } from './sql.ts';
import { CLOSE_TIMEOUT_SECONDS, connect } from './sql.ts';
import { againAfterDeadlock, STATEMENT_MS_MAX } from './transact.ts';

/** Settings of PostgreSQL for a transaction, by their names. */
export type TransactionSettings = Readonly<Record<string, string>>;

const TIME_LIMITS: TransactionSettings = {
  statement_timeout: String(STATEMENT_MS_MAX),
  idle_in_transaction_session_timeout: String(STATEMENT_MS_MAX),
};

/**
 * Sent as one simple query, before the first statement of the transaction has an answer. One
 * statement sets all: each of its own would be an answer more to read, in every transaction.
 */
const beginWith = (settings: TransactionSettings): string => {
  const set = Object.entries(settings).map(
    ([name, value]) => `set_config('${name}','${value}',true)`,
  );
  return `begin;select ${set.join(',')}`;
};

/**
 * Settings for statements that look up each element of arrays of many lengths: a plan is made once,
 * where PostgreSQL would plan again for each length, and finds rows by index. Tables that were
 * vacuumed while empty still seem cheapest to read whole, so these statements join by `id = any
 * (array[row.id])`, which PostgreSQL can look up, and neither merge nor hash.
 */
export const PLANS_ARE_KEPT: TransactionSettings = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // In a table that seemed empty it would go through all of an index, for a key's columns alone.
  enable_indexonlyscan: 'off',
  // A plan type that is off seems very expensive, and such a statement is compiled, for seconds.
  jit: 'off',
};

/** Callers must run one transaction at a time. */
export class DedicatedConnection {
  private readonly sql: SqlPool;
  private readonly begin: string;
  private closed = 0;

  /** `settings`: for each of its transactions. */
  constructor(address: DatabaseAddress, settings: TransactionSettings) {
    this.begin = beginWith({ ...TIME_LIMITS, ...settings });
    // Replaced for its age in a transaction, the rest would run as statements of their own.
    this.sql = connect(address, 1, {
      max_lifetime: null,
      onclose: () => {
        this.closed += 1;
      },
    });
  }

  /**
   * Runs `first`, then `last` with its result, and commits (READ COMMITTED); repeats all after a
   * deadlock. `last` must issue its statements at once: COMMIT is sent right after them.
   */
  transact<Found, Result>(
    first: (tx: Sql) => Promise<Found>,
    last: (tx: Sql, found: Found) => Promise<Result>,
  ): Promise<Result> {
    return this.insist(() => this.inTwo(first, last));
  }

  /**
   * Runs `work`, which issues its statements at once, and commits, in one round trip; repeats it
   * after a deadlock. It must be safe to repeat: when the connection is lost, some may have run.
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

  /** Without `execute`, BEGIN would follow the statements that are awaited first. */
  private sendBegin(): Promise<unknown> {
    return this.sql.unsafe(this.begin).simple().execute();
  }

  /** Without `execute` it would overtake the statements. After a failed one it rolls back. */
  private commit(): Promise<unknown> {
    return this.sql.unsafe('commit').simple();
  }

  /** Comes after statements under way. Drops its own error: the caller gets the earlier one. */
  private async rollBack(): Promise<void> {
    await this.sql
      .unsafe('rollback')
      .simple()
      .catch(() => undefined);
  }
}
