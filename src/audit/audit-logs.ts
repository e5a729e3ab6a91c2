/** Keeps the audit logs bounded: by time, and by the number of entries of a client. */

import type { Sql } from '../database/sql.ts';
import { TransactionBudget } from '../database/transaction-budget.ts';
import type { AuditRoom, FullLog } from './sql/old-entries.ts';
import { deleteOldAuditEntries, findFullLogs, trimLog } from './sql/old-entries.ts';

/**
 * Thirteen months: who looks at a year has all of it.
 * @limit entries of an audit log are kept → deleted
 */
const AUDIT_RETENTION_MS = 400 * 86_400_000;
/**
 * Entries of a client, some 300 bytes each: a change every six minutes for all of that time. Until
 * its turn comes, a client may have more.
 * @limit entries of a client that are kept; a hundredth more, and what it writes until its turn
 * comes → the oldest of the actor with most are deleted
 */
const AUDIT_ENTRIES_PER_CLIENT_MAX = 100_000;
/**
 * Entries beside these that tell who got or lost access: 25 of them a day.
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

export class AuditLogs {
  private readonly sql: Sql;
  private readonly entriesMax: Readonly<Record<AuditRoom, number>>;
  private readonly pieceMax: number;
  /** The clients up to this one have no entry too many. */
  private afterId = 0;

  constructor(sql: Sql, entriesMax = ROOMS, pieceMax = AUDIT_ENTRIES_MAX) {
    this.sql = sql;
    this.entriesMax = entriesMax;
    this.pieceMax = pieceMax;
  }

  /** Runs once; the clients take turns. `nowMs`: by the database's clock. */
  async run(nowMs: number): Promise<void> {
    const { sql, afterId, entriesMax, pieceMax } = this;
    const budget = new TransactionBudget(TRANSACTIONS_MAX);
    await budget.empty(pieceMax, () =>
      deleteOldAuditEntries(sql, nowMs - AUDIT_RETENTION_MS, pieceMax),
    );
    const { lastId, full } = await findFullLogs(sql, afterId, AUDIT_CLIENTS_MAX, entriesMax);
    for (const log of full) {
      if (!(await this.trim(budget, log))) {
        // What is left of this log is the first of the next run.
        this.afterId = log.clientId - 1;
        return;
      }
    }
    this.afterId = lastId ?? 0;
  }

  /** Returns whether nothing is left that is too much. */
  private trim(budget: TransactionBudget, log: FullLog): Promise<boolean> {
    let { excess } = log;
    return budget.empty(this.pieceMax, async () => {
      const deleted = await trimLog(this.sql, { ...log, excess }, this.pieceMax);
      excess -= deleted;
      return deleted;
    });
  }
}
