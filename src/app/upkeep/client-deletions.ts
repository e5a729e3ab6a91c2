/**
 * Erases what deleted clients leave, a bounded piece at a time, on any node and on several at once.
 * Their apps are erased as other deleted apps are (app-deletions.ts); their push jobs are
 * cancelled, and deleted when they have ended; then their tags go, and the client itself.
 */

import type { SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import { TransactionBudget } from '../../database/transaction-budget.ts';
import { changeState } from '../../push/sql/ledger/change-state.ts';
import type { JobJournal } from '../../telemetry/job-journal.ts';
import { SETTLED_AFTER_MS } from './app-deletions.ts';
import type { ClientDeletion } from './erase-client.ts';
import {
  closeClientDeletion,
  eraseEndedJobs,
  eraseTags,
  hasAppDeletions,
  listClientDeletions,
  listJobsToCancel,
} from './erase-client.ts';

/**
 * Deleted clients of one look; the next look begins behind them.
 * @limit deleted clients of one look → the next look
 */
const DELETIONS_MAX = 100;
/**
 * @limit transactions of a run of housekeeping that erase data of deleted clients → the next run
 */
const TRANSACTIONS_MAX = 20;
/**
 * Push jobs cancelled between two looks, each in a transaction of its own.
 * @limit push jobs of each deleted client that are cancelled in a run → the next run
 */
const CANCELLED_MAX = 100;
/**
 * Ended push jobs deleted in one transaction, each with thousands of scopes perhaps; and rows of
 * their condemned devices.
 * @limit push jobs of deleted clients deleted in a transaction, and rows of their condemned devices
 * → the next one
 */
const JOBS_AT_ONCE = { jobs: 100, rows: 10_000 };
/**
 * Tags in one transaction, each with its counts of some days.
 * @limit tags of deleted clients deleted in a transaction → the next one
 */
const TAGS_MAX = 1_000;

interface ClientDeletionsOptions {
  readonly sql: SqlPool;
  readonly journal: Pick<JobJournal, 'ended'>;
}

export class ClientDeletions {
  private readonly sql: SqlPool;
  private readonly journal: Pick<JobJournal, 'ended'>;
  /** Of the run. */
  private budget = new TransactionBudget(TRANSACTIONS_MAX);
  /** The client that had its turn last. */
  private afterId = 0;

  constructor(options: ClientDeletionsOptions) {
    this.sql = options.sql;
    this.journal = options.journal;
  }

  /** Runs once; the deleted clients take turns. `nowMs`: by the database's clock. */
  async run(nowMs: number): Promise<void> {
    this.budget = new TransactionBudget(TRANSACTIONS_MAX);
    const deletions = await listClientDeletions(this.sql, this.afterId, DELETIONS_MAX);
    for (const deletion of deletions) {
      if (this.budget.isSpent) return;
      this.afterId = deletion.clientId;
      await this.carryOn(deletion, nowMs);
    }
    if (deletions.length < DELETIONS_MAX) this.afterId = 0;
  }

  private async carryOn(deletion: ClientDeletion, nowMs: number): Promise<void> {
    const { sql, budget } = this;
    await this.cancelJobs(deletion);
    const hasErased = await budget.exhaust(() => eraseEndedJobs(sql, deletion, JOBS_AT_ONCE));
    const isSettled = nowMs - deletion.deletedAtMs >= SETTLED_AFTER_MS;
    // The counts of its tags go with its apps, in pieces.
    if (!hasErased || !isSettled || (await hasAppDeletions(sql, deletion))) return;
    if (!(await budget.empty(TAGS_MAX, () => eraseTags(sql, deletion, TAGS_MAX)))) return;
    if (budget.take()) await closeClientDeletion(sql, deletion);
  }

  /** What is under way is counted as cancelled, and has ended soon. */
  private async cancelJobs(deletion: ClientDeletion): Promise<void> {
    for (const id of await listJobsToCancel(this.sql, deletion, CANCELLED_MAX)) {
      const done = await transact(this.sql, (tx) =>
        changeState(tx, deletion.clientId, id, null, 'cancel'),
      );
      this.journal.ended(done?.ended ?? []);
    }
  }
}
