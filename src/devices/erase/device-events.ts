/** Keeps what is recorded of single devices bounded: by time, and by number. */

import type { Sql } from '../../database/sql.ts';
import { TransactionBudget } from '../../database/transaction-budget.ts';
import type { Scope } from '../../domain/device.ts';
import { deleteDeviceEvents, newestTooMany, nextScopeWithEvents } from '../sql/old-events.ts';

/**
 * Whoever asks why a phone got nothing asks within days.
 * @limit events of devices are kept → deleted
 */
const DEVICE_EVENTS_RETENTION_MS = 30 * 86_400_000;
/**
 * Of an app on a platform, some 200 bytes each with their indexes. Until its turn comes, it may
 * have more.
 * @limit events of devices of an app on a platform that are kept, and what comes until its turn →
 * the oldest are deleted
 */
const DEVICE_EVENTS_PER_SCOPE_MAX = 200_000;
/**
 * Looked at in one run: some 20 ms of the database's time for each that has so many.
 * @limit apps on platforms whose events are looked at in a run of housekeeping → the next run
 */
const SCOPES_MAX = 5;
/** @limit events of devices deleted in a transaction of housekeeping → the next one */
const EVENTS_MAX = 10_000;
/** @limit such transactions of a run → the next run */
const TRANSACTIONS_MAX = 20;

const START: Scope = { appId: 0, platformId: 0 };

export class DeviceEvents {
  private readonly sql: Sql;
  private readonly eventsMax: number;
  private readonly pieceMax: number;
  /** The last scope that has no event too many. */
  private last = START;

  constructor(sql: Sql, eventsMax = DEVICE_EVENTS_PER_SCOPE_MAX, pieceMax = EVENTS_MAX) {
    this.sql = sql;
    this.eventsMax = eventsMax;
    this.pieceMax = pieceMax;
  }

  /** Runs once; the scopes take turns. `nowMs`: by the database's clock. */
  async run(nowMs: number): Promise<void> {
    const { sql, eventsMax, pieceMax } = this;
    const budget = new TransactionBudget(TRANSACTIONS_MAX);
    for (let scopes = 0; scopes < SCOPES_MAX; scopes += 1) {
      const scope = await nextScopeWithEvents(sql, this.last);
      if (scope === null) {
        this.last = START;
        return;
      }
      const tooManyMs = (await newestTooMany(sql, scope, eventsMax)) ?? 0;
      const toMs = Math.max(nowMs - DEVICE_EVENTS_RETENTION_MS, tooManyMs);
      const isDone = await budget.empty(pieceMax, () =>
        deleteDeviceEvents(sql, scope, toMs, pieceMax),
      );
      // What is left of the scope is the first of the next run.
      if (!isDone) return;
      this.last = scope;
    }
  }
}
