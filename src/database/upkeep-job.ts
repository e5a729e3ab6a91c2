/** Periodic work on the database, as records: each feature's `upkeep.ts` declares its own. */

import type { SqlPool } from './sql.ts';
import { TransactionBudget } from './transaction-budget.ts';

export interface UpkeepRun {
  readonly sql: SqlPool;
  /** The database's clock, which stamps the rows: a node's own may be days ahead. */
  readonly nowMs: number;
  /** The transactions that the job may take: spent at once when the process stops. */
  readonly budget: TransactionBudget;
}

/** Answers whether nothing is left; what is left is done by the next run. */
export type UpkeepWork = (run: UpkeepRun) => Promise<boolean>;

export interface UpkeepJob {
  /** Its subject, for the log. */
  readonly name: string;
  /** Time between two runs; without it, each run of housekeeping does the job. */
  readonly intervalMs?: number;
  /** In one run. */
  readonly transactionsMax: number;
  run(run: UpkeepRun): Promise<unknown>;
}

export async function runUpkeepJob(
  job: UpkeepJob,
  { sql, nowMs, signal }: Pick<UpkeepRun, 'sql' | 'nowMs'> & { readonly signal?: AbortSignal },
): Promise<void> {
  await job.run({ sql, nowMs, budget: new TransactionBudget(job.transactionsMax, signal) });
}

/** Rows that are deleted when they have been kept long enough. */
interface Retention {
  /** 0: the rows have no age, and go when they are found. */
  readonly keptMs: number;
  /** Rows in one transaction. */
  readonly batchMax: number;
  /** One transaction, with rows of before a time. Answers how many, at most `limit`. */
  delete(sql: SqlPool, beforeMs: number, limit: number): Promise<number>;
}

/** Deletes by age: batch by batch, until one is not full. */
export const byAge =
  ({ keptMs, batchMax, delete: deleteBatch }: Retention): UpkeepWork =>
  ({ sql, nowMs, budget }) =>
    budget.empty(batchMax, () => deleteBatch(sql, nowMs - keptMs, batchMax));

/** Owners (clients, webhooks, apps) whose data is trimmed one owner after the other. */
export interface Turns<Cursor, Owner extends Cursor> {
  readonly start: Cursor;
  /** In one run. */
  readonly ownersMax: number;
  /** An owner beyond the budget comes first in the next run, or after all others. */
  readonly unfinished: 'first' | 'last';
  next(run: UpkeepRun, after: Cursor, limit: number): Promise<readonly Owner[]>;
  /** Answers whether nothing of this owner is left to do. */
  serve(run: UpkeepRun, owner: Owner): Promise<boolean>;
}

/** Gives all owners their turns, over as many runs as it takes, and then begins again. */
export function inTurn<Cursor, Owner extends Cursor = Cursor>(
  turns: Turns<Cursor, Owner>,
): UpkeepWork {
  const { start, ownersMax, unfinished } = turns;
  let last = start;
  return async (run) => {
    const owners = await turns.next(run, last, ownersMax);
    for (const owner of owners) {
      if (run.budget.isSpent) return false;
      const before = last;
      // Before it may fail: one owner does not keep the others waiting.
      last = owner;
      const isDone = await turns.serve(run, owner);
      if (!isDone && unfinished === 'first') {
        last = before;
        return false;
      }
    }
    if (owners.length < ownersMax) last = start;
    return true;
  };
}

/** One after the other, from one budget, until it is spent. */
export const inOrder =
  (...works: readonly UpkeepWork[]): UpkeepWork =>
  async (run) => {
    for (const work of works) if (!(await work(run))) return false;
    return true;
  };
