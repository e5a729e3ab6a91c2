/**
 * Notifies this node's tasks when their notification was paused, cancelled or given another end: a
 * task that waits for a slow provider reports nothing for seconds, and would send on.
 */

import type { Logger } from 'pino';
import type { Sql } from '../../database/sql.ts';
import { Recurring } from '../../std/recurring.ts';
import type { NotificationOrders } from '../sql/ledger/read-orders.ts';
import { readOrders } from '../sql/ledger/read-orders.ts';

/**
 * An order is obeyed within a second; most of what is small has ended by the first look.
 * @limit between looks for what was paused, cancelled or given another end, of what is under way
 */
export const LOOK_INTERVAL_MS = 250;

interface StandingWatchOptions {
  readonly sql: Sql;
  readonly log: Logger;
  readonly underWayFor: (ms: number) => readonly string[];
  readonly tell: (orders: readonly NotificationOrders[]) => void;
}

export class StandingWatch {
  private readonly options: StandingWatchOptions;
  private readonly looks = new Recurring(LOOK_INTERVAL_MS, () => this.look());

  constructor(options: StandingWatchOptions) {
    this.options = options;
  }

  start(): void {
    this.looks.start();
  }

  /** Resolves when the look under way has ended. */
  stop(): Promise<void> {
    return this.looks.stop();
  }

  private async look(): Promise<void> {
    const { sql, log, underWayFor, tell } = this.options;
    const ids = underWayFor(LOOK_INTERVAL_MS);
    if (ids.length === 0) return;
    try {
      tell(await readOrders(sql, ids));
    } catch (error) {
      log.warn({ err: error }, 'the states of running sends cannot be read; trying again');
    }
  }
}
