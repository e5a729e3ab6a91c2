/** Cancels the push jobs of a publisher whose right to submit them was just taken away. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { CancelJobs } from '../access/cancel-jobs.ts';
import { REVOKED_WITHIN_MS } from '../access/revision.ts';
import { shareClient } from '../clients/lock-client.ts';
import type { SqlPool } from '../database/sql.ts';
import { transact } from '../database/transact.ts';
import type { CancelledJobs } from './sql/ledger/cancel-jobs-of.ts';
import { cancelJobsOf } from './sql/ledger/cancel-jobs-of.ts';

/**
 * @limit push jobs cancelled in a transaction, with the key or member that submitted them → the
 * next transaction
 */
const JOBS_MAX = 500;

interface CancelParts {
  readonly sql: SqlPool;
  /** Hears of those that have ended with this. */
  readonly journal: { ended(jobs: CancelledJobs['ended']): void };
}

/** Cancels a publisher's open jobs, and again when every node knows that the right is gone. */
export const jobCanceller =
  (parts: CancelParts): CancelJobs =>
  async (clientId, userName) => {
    await cancelOpenJobs(parts, clientId, userName);
    await sleep(REVOKED_WITHIN_MS);
    await cancelOpenJobs(parts, clientId, userName);
  };

async function cancelOpenJobs(
  { sql, journal }: CancelParts,
  clientId: number,
  userName: string,
): Promise<void> {
  for (let count = JOBS_MAX; count === JOBS_MAX; ) {
    const cancelled = await transact(sql, async (tx) => {
      await shareClient(tx, clientId);
      return await cancelJobsOf(tx, clientId, userName, JOBS_MAX);
    });
    journal.ended(cancelled.ended);
    ({ count } = cancelled);
  }
}
