/**
 * Looks for sends of which everything is recorded and that have not ended: their callers would wait
 * for ever.
 */

import type { Logger } from 'pino';
import { Recurring } from '../../std/recurring.ts';
import { finishStranded } from '../../store/ledger/finish-stranded.ts';
import type { SqlPool } from '../../store/sql.ts';

/** Between two looks, each of them by the index of what has not ended. */
const INTERVAL_MS = 10_000;
/** Ended in one transaction: the next look finds the others. */
const STRANDED_MAX = 1_000;

export class Stranded {
  private readonly sql: SqlPool;
  private readonly log: Logger;
  private readonly looks = new Recurring(INTERVAL_MS, () => this.runLogged());

  constructor(sql: SqlPool, log: Logger) {
    this.sql = sql;
    this.log = log;
  }

  start(): void {
    this.looks.start();
  }

  /** Resolves when the look under way has ended. */
  stop(): Promise<void> {
    return this.looks.stop();
  }

  /** One look. */
  async run(): Promise<void> {
    for (const notificationId of await finishStranded(this.sql, STRANDED_MAX)) {
      this.log.warn(
        { notificationId },
        'a send was fully recorded but still open: it has been finished',
      );
    }
  }

  private async runLogged(): Promise<void> {
    try {
      await this.run();
    } catch (error) {
      this.log.warn(
        { err: error },
        'the search for fully recorded sends that are still open failed',
      );
    }
  }
}
