/**
 * Watches the database's clock: nothing must wait for a time that the clock was wrong about.
 */

import type { Logger } from 'pino';
import type { SqlPool } from '../sql.ts';
import { noteClock } from './set-back-clock.ts';

export class ClockWatch {
  readonly #sql: SqlPool;
  readonly #log: Logger;

  constructor({ sql, log }: { readonly sql: SqlPool; readonly log: Logger }) {
    this.#sql = sql;
    this.#log = log;
  }

  async run(): Promise<void> {
    const byMs = await noteClock(this.#sql);
    if (byMs === 0) return;
    this.#log.warn(
      { byMs: Math.round(byMs) },
      "the database's clock was set back: what waited for a time that it was wrong about goes on",
    );
  }
}
