/** Keeps the audit logs bounded: by time, and by the number of entries of a client. */

import { deleteOldAuditEntries, findFullLogs, trimLog } from '../store/audit/old-entries.ts';
import type { Sql } from '../store/sql.ts';
import { TransactionBudget } from './transaction-budget.ts';

/** Thirteen months: who looks at a year has all of it. */
const AUDIT_RETENTION_MS = 400 * 86_400_000;
/**
 * Entries of a client, some 300 bytes each: a change every six minutes for all of that time. Until
 * its turn comes, a client may have more.
 */
export const AUDIT_ENTRIES_PER_CLIENT_MAX = 100_000;
/** Clients looked at in one run: some 10 ms of the database's time for each that has so many. */
const AUDIT_CLIENTS_MAX = 20;
/** Entries deleted in one transaction. */
const AUDIT_ENTRIES_MAX = 10_000;
const TRANSACTIONS_MAX = 20;

export class AuditLogs {
  private readonly sql: Sql;
  private readonly entriesMax: number;
  /** The client that was looked at last. */
  private afterId = 0;

  constructor(sql: Sql, entriesMax = AUDIT_ENTRIES_PER_CLIENT_MAX) {
    this.sql = sql;
    this.entriesMax = entriesMax;
  }

  /** Runs once; the clients take turns. `nowMs`: by the database's clock. */
  async run(nowMs: number): Promise<void> {
    const { sql, afterId, entriesMax } = this;
    const budget = new TransactionBudget(TRANSACTIONS_MAX);
    await budget.empty(AUDIT_ENTRIES_MAX, () =>
      deleteOldAuditEntries(sql, nowMs - AUDIT_RETENTION_MS, AUDIT_ENTRIES_MAX),
    );
    const look = { clients: AUDIT_CLIENTS_MAX, entriesMax };
    const { lastId, full } = await findFullLogs(sql, afterId, look);
    for (const log of full) {
      await budget.empty(AUDIT_ENTRIES_MAX, () => trimLog(sql, log, AUDIT_ENTRIES_MAX));
    }
    this.afterId = lastId ?? 0;
  }
}
