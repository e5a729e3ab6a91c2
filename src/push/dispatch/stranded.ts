/** Ends sends that are fully recorded but still open: their publishers would wait for ever. */

import type { Logger } from 'pino';
import type { SqlPool } from '../../database/sql.ts';
import { Recurring } from '../../std/recurring.ts';
import type { JobJournal } from '../../telemetry/job-journal.ts';
import { finishStranded } from '../sql/ledger/finish-stranded.ts';

/** @limit between looks for sends that are recorded to their end and open */
const INTERVAL_MS = 10_000;
/** @limit sends that are recorded to their end and open, ended in a look → the next look */
const STRANDED_MAX = 1_000;

export class Stranded {
  private readonly sql: SqlPool;
  private readonly log: Logger;
  private readonly journal: Pick<JobJournal, 'ended'>;
  private readonly looks = new Recurring(INTERVAL_MS, () => this.runLogged());

  constructor(sql: SqlPool, log: Logger, journal: Pick<JobJournal, 'ended'>) {
    this.sql = sql;
    this.log = log;
    this.journal = journal;
  }

  start(): void {
    this.looks.start();
  }

  /** Resolves when the look under way has ended. */
  stop(): Promise<void> {
    return this.looks.stop();
  }

  async run(): Promise<void> {
    const ended = await finishStranded(this.sql, STRANDED_MAX);
    for (const { id: notificationId } of ended) {
      this.log.warn(
        { notificationId },
        'a send was fully recorded but still open: it has been finished',
      );
    }
    this.journal.ended(ended);
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
