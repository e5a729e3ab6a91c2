/** Plans the notifications that are due: an accepted push wakes it; it looks for the others. */

import type { Logger } from 'pino';
import type { DedicatedConnection } from '../../database/dedicated-connection.ts';
import { PLANS_ARE_KEPT } from '../../database/dedicated-connection.ts';
import type { Store } from '../../database/store.ts';
import { Bell } from '../../std/bell.ts';
import type { JobJournal } from '../../telemetry/job-journal.ts';
import { nextUrgentInMs } from '../sql/notifications/next-urgent.ts';
import type { DueQueue, PlannedNotification } from '../sql/notifications/plan-due.ts';
import { LARGE_WEIGHT, PLANNED_AT_ONCE_MAX, planDue } from '../sql/notifications/plan-due.ts';

/**
 * How late a scheduled push may begin. An urgent one is planned when it is due.
 * @limit between looks for due notifications
 */
const POLL_INTERVAL_MS = 250;
/** @limit between looks for due notifications when urgent ones are due */
const URGENT_APART_MS = 10;
/** A look that failed, perhaps by its time, divides the next by so much; a good one multiplies. */
const STEP = 4;

interface PlannerOptions {
  readonly store: Pick<Store, 'openDedicatedConnection'>;
  readonly log: Logger;
  readonly journal: Pick<JobJournal, 'planned'>;
  /** Lines of which enough planned parts wait in memory: no more of them are planned now. */
  readonly fullQueues: () => readonly DueQueue[];
  /** Called with the notifications just planned, one at least. */
  readonly onPlanned: (planned: readonly PlannedNotification[]) => void;
}

export class Planner {
  private readonly options: PlannerOptions;
  private readonly connection: DedicatedConnection;
  private readonly bell = new Bell();
  private atOnceMax = PLANNED_AT_ONCE_MAX;
  private isStopping = false;
  /** How often it was woken, and how often when the last look that went well began. */
  private wakes = 0;
  private lookedAtWakes = 0;
  private loop: Promise<void> = Promise.resolve();

  constructor(options: PlannerOptions) {
    this.options = options;
    this.connection = options.store.openDedicatedConnection(PLANS_ARE_KEPT);
  }

  start(): void {
    this.loop = this.run();
  }

  /** Call it when a push that is due at once was accepted, or when a full queue has room again. */
  wake(): void {
    this.wakes += 1;
    this.bell.ring();
  }

  /** Whether something that it was woken for may not be planned yet. */
  get isBehind(): boolean {
    return this.lookedAtWakes < this.wakes;
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    this.bell.ring();
    await this.loop;
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      await this.bell.wait(await this.look());
    }
  }

  /** Answers how long to wait for the next look. */
  private async look(): Promise<number> {
    const { log, journal, fullQueues, onPlanned } = this.options;
    const startedMs = Date.now();
    const { wakes } = this;
    try {
      const [planned, urgentInMs] = await this.connection.transactAtOnce((tx) =>
        Promise.all([
          planDue(tx, fullQueues(), this.atOnceMax),
          nextUrgentInMs(tx, POLL_INTERVAL_MS),
        ]),
      );
      // The last one may have filled the look: perhaps more are due.
      const isFull = planned.some(
        ({ weightBefore }) => weightBefore + LARGE_WEIGHT >= this.atOnceMax,
      );
      if (isFull) this.bell.ring();
      else this.lookedAtWakes = wakes;
      this.atOnceMax = Math.min(PLANNED_AT_ONCE_MAX, this.atOnceMax * STEP);
      if (planned.length > 0) onPlanned(planned);
      journal.planned(planned, startedMs);
      return urgentInMs === null ? POLL_INTERVAL_MS : Math.max(URGENT_APART_MS, urgentInMs);
    } catch (error) {
      this.atOnceMax = Math.max(1, this.atOnceMax / STEP);
      log.warn({ err: error }, 'nothing can be planned; trying again');
      return POLL_INTERVAL_MS;
    }
  }
}
