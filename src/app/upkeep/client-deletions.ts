/**
 * Erases what deleted clients leave, on any node and on several at once: their apps
 * (app-deletions.ts); push jobs, cancelled and ended; tags; the client itself.
 */

import { transact } from '../../database/transact.ts';
import type { UpkeepJob, UpkeepRun } from '../../database/upkeep-job.ts';
import { inTurn } from '../../database/upkeep-job.ts';
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

/** @limit deleted clients of one look → the next look */
const DELETIONS_MAX = 100;
/**
 * @limit transactions of a run of housekeeping that erase data of deleted clients → the next run
 */
const TRANSACTIONS_MAX = 20;
/**
 * Each in a transaction of its own.
 * @limit push jobs of each deleted client that are cancelled in a run → the next run
 */
const CANCELLED_MAX = 100;
/**
 * Each may have thousands of scopes.
 * @limit push jobs of deleted clients deleted in a transaction, rows of their condemned
 * devices, and groups of their reach → the next one
 */
const JOBS_AT_ONCE = { jobs: 100, rows: 10_000 };
/**
 * Each has counts of some days.
 * @limit tags of deleted clients deleted in a transaction → the next one
 */
const TAGS_MAX = 1_000;

export function clientDeletions(journal: Pick<JobJournal, 'ended'>): UpkeepJob {
  return {
    name: 'deleted clients',
    transactionsMax: TRANSACTIONS_MAX,
    run: inTurn<Pick<ClientDeletion, 'clientId'>, ClientDeletion>({
      start: { clientId: 0 },
      ownersMax: DELETIONS_MAX,
      unfinished: 'last',
      next: ({ sql }, { clientId }, limit) => listClientDeletions(sql, clientId, limit),
      async serve(run, deletion) {
        await cancelJobs(run, deletion, journal);
        return carryOn(run, deletion);
      },
    }),
  };
}

async function carryOn(
  { sql, nowMs, budget }: UpkeepRun,
  deletion: ClientDeletion,
): Promise<boolean> {
  const hasErased = await budget.exhaust(() => eraseEndedJobs(sql, deletion, JOBS_AT_ONCE));
  const isSettled = nowMs - deletion.deletedAtMs >= SETTLED_AFTER_MS;
  // The counts of its tags go with its apps, in pieces.
  if (!hasErased || !isSettled || (await hasAppDeletions(sql, deletion))) return false;
  if (!(await budget.empty(TAGS_MAX, () => eraseTags(sql, deletion, TAGS_MAX)))) return false;
  if (!budget.take()) return false;
  await closeClientDeletion(sql, deletion);
  return true;
}

/** Jobs under way are counted as cancelled, and have ended soon. */
async function cancelJobs(
  { sql, budget }: UpkeepRun,
  deletion: ClientDeletion,
  journal: Pick<JobJournal, 'ended'>,
): Promise<void> {
  for (const id of await listJobsToCancel(sql, deletion, CANCELLED_MAX)) {
    // The process stops.
    if (budget.isSpent) return;
    const done = await transact(sql, (tx) =>
      changeState(tx, deletion.clientId, id, null, 'cancel'),
    );
    journal.ended(done?.ended ?? []);
  }
}
