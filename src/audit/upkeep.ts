/** Keeps the audit logs bounded: by time, and by the number of entries of a client. */

import type { UpkeepJob, UpkeepRun } from '../database/upkeep-job.ts';
import { byAge, inOrder, inTurn } from '../database/upkeep-job.ts';
import type { AuditRoom, ClientLog, FullRoom } from './sql/old-entries.ts';
import { deleteOldAuditEntries, nextLogs, trimLog } from './sql/old-entries.ts';

/**
 * Thirteen months: who looks at a year has all of it.
 * @limit entries of an audit log are kept → deleted
 */
const AUDIT_RETENTION_MS = 400 * 86_400_000;
/**
 * Some 300 bytes each: a change every six minutes for all of that time.
 * @limit entries of a client that are kept; a hundredth more, and what it writes until its turn
 * comes → the oldest of the actor with most are deleted
 */
const AUDIT_ENTRIES_PER_CLIENT_MAX = 100_000;
/**
 * Further entries, about access that was given or lost: 25 of them a day.
 * @limit entries that concern access, kept beside the others of a client → the oldest of the actor
 * with most are deleted
 */
const AUDIT_ACCESS_ENTRIES_PER_CLIENT_MAX = 10_000;
/**
 * Clients looked at in one run: some 10 ms of the database's time for each that has so many.
 * @limit audit logs looked at in a run of housekeeping → the next run
 */
const AUDIT_CLIENTS_MAX = 20;
/** @limit entries of audit logs deleted in a transaction of housekeeping → the next one */
const AUDIT_ENTRIES_MAX = 10_000;
/** @limit such transactions of a run → the next run */
const TRANSACTIONS_MAX = 20;

const ROOMS: Readonly<Record<AuditRoom, number>> = {
  access: AUDIT_ACCESS_ENTRIES_PER_CLIENT_MAX,
  other: AUDIT_ENTRIES_PER_CLIENT_MAX,
};

/** Deletes entries that are too old, and then those that are too many, client by client. */
export function auditLogs(entriesMax = ROOMS, batchMax = AUDIT_ENTRIES_MAX): UpkeepJob {
  const trim = ({ sql, budget }: UpkeepRun, clientId: number, { room, excess }: FullRoom) => {
    let left = excess;
    return budget.empty(batchMax, async () => {
      const deleted = await trimLog(sql, { clientId, room, excess: left }, batchMax);
      left -= deleted;
      return deleted;
    });
  };
  return {
    name: 'audit logs',
    transactionsMax: TRANSACTIONS_MAX,
    run: inOrder(
      byAge({ keptMs: AUDIT_RETENTION_MS, batchMax, delete: deleteOldAuditEntries }),
      inTurn<Pick<ClientLog, 'clientId'>, ClientLog>({
        start: { clientId: 0 },
        ownersMax: AUDIT_CLIENTS_MAX,
        unfinished: 'first',
        next: ({ sql }, after, limit) => nextLogs(sql, after.clientId, limit, entriesMax),
        async serve(run, { clientId, full }) {
          for (const room of full) if (!(await trim(run, clientId, room))) return false;
          return true;
        },
      }),
    ),
  };
}
