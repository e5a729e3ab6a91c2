/**
 * Ends the transactions of frozen nodes, and keeps statistics current where the database does not:
 * PGlite has no autovacuum and no checkpoints, PostgreSQL analyzes a new table after up to a
 * minute, and until then every index looks alike to the planner.
 */

import type { Logger } from 'pino';
import { Recurring } from '../../std/recurring.ts';
import { faultOf } from '../faults.ts';
import type { Store } from '../store.ts';
import { checkpointLongLog } from './long-log.ts';
import { staleTables } from './stale-tables.ts';
import { endStalledTransactions } from './stalled-transactions.ts';

/**
 * Meanwhile a table grows by some thousand rows: little enough for a plan made without statistics.
 * @limit between looks for stale statistics
 */
const INTERVAL_MS = 2_000;
/**
 * @limit silence inside of a transaction, however it came about (a frozen node) → the session is
 * ended, its transaction rolled back
 */
const STALLED_MS = 10_000;

export class Maintenance {
  private readonly store: Pick<Store, 'sql' | 'address'>;
  private readonly log: Logger;
  private readonly runs = new Recurring(INTERVAL_MS, () => this.runLogged());

  constructor(store: Pick<Store, 'sql' | 'address'>, log: Logger) {
    this.store = store;
    this.log = log;
  }

  start(): void {
    this.runs.start();
  }

  /** Resolves when the run under way has ended. */
  stop(): Promise<void> {
    return this.runs.stop();
  }

  /**
   * Analyzes new or much changed tables, and answers their names. Embedded, it also vacuums them
   * and makes checkpoints.
   */
  async run(): Promise<readonly string[]> {
    const { sql, address } = this.store;
    const isEmbedded = address.kind === 'embedded';
    if (isEmbedded) await checkpointLongLog(sql);
    else await this.endStalled();
    const tables = await staleTables(sql, { isNewOnly: !isEmbedded });
    for (const { name, wantsVacuum } of tables) {
      // The name is quoted by the catalogue; a utility statement takes no parameters. A locked
      // table has its turn at a later run: a wait for it would block all others.
      if (isEmbedded && wantsVacuum) await sql.unsafe(`vacuum (analyze, skip_locked) ${name}`);
      else await sql.unsafe(`analyze (skip_locked) ${name}`);
    }
    return tables.map(({ name }) => name);
  }

  private async endStalled(): Promise<void> {
    const ended = await endStalledTransactions(this.store.sql, STALLED_MS);
    if (ended > 0) this.log.warn({ ended }, 'ended transactions of a node that has stopped');
  }

  private async runLogged(): Promise<void> {
    try {
      await this.run();
    } catch (error) {
      // Maintenance only helps; a fault of the database also shows wherever else the store is used.
      this.log.warn(
        { err: error, fault: faultOf(error) },
        'maintenance of the database failed; it will be tried again',
      );
    }
  }
}
