/**
 * Erases what deleted apps leave, a bounded piece at a time, on any node and on several at once:
 * first the devices, then their part of push jobs, then the rest. Each piece is a transaction, and
 * what is left stands in the tables themselves, so a node that dies in between loses nothing.
 */

import type { AppDeletion } from '../../catalogue/list-deletions.ts';
import { listAppDeletions } from '../../catalogue/list-deletions.ts';
import type { SqlPool } from '../../database/sql.ts';
import { TransactionBudget } from '../../database/transaction-budget.ts';
import { eraseDevices } from '../../devices/erase-devices.ts';
import {
  closeAppDeletion,
  devicesOfApp,
  disconnectTags,
  eraseDeviceEventsOfApp,
  eraseDeviceGroups,
  eraseDeviceGroupTags,
  eraseTagDays,
} from '../../devices/sql/erase-rest.ts';
import { eraseFromJobs } from '../../push/sql/erase-jobs.ts';
import { CappedMap } from '../../std/capped-map.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';

/**
 * Deleted apps of one look; the next look begins behind them.
 * @limit deleted apps of one look → the next look
 */
const DELETIONS_MAX = 100;
/**
 * Of a run. With housekeeping's interval it is 2,000 devices a second on each node.
 * @limit transactions of a run of housekeeping that erase data of deleted apps → the next run
 */
const TRANSACTIONS_MAX = 20;
/** @limit devices of deleted apps erased in a transaction → the next one */
const DEVICES_MAX = 1_000;
/** @limit other rows of deleted apps deleted in a transaction → the next one */
const ROWS_MAX = 10_000;
/**
 * Push jobs looked at in one transaction: a look at an index each.
 * @limit push jobs of deleted apps looked at in a transaction, and rows deleted → the next one
 */
const JOBS_AT_ONCE = { jobs: 1_000, rows: ROWS_MAX };
/**
 * After this time no transaction and no cache is left that found the app, or client, alive.
 * @limit a deleted app or client is forgotten after
 */
export const SETTLED_AFTER_MS = 300_000;
/**
 * From one look through all jobs of a client to the next, while one of the app's does not end.
 * @limit all jobs of its client are looked at again after, while one of the app's jobs does not end
 */
const PASS_INTERVAL_MS = 60_000;
/** @limit deleted apps whose look through the jobs is remembered → it begins again */
const PASSES_MAX = 1_000;

/** Before every id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** A look through the jobs of a client, from the first to the last. */
interface Pass {
  readonly startedAtMs: number;
  afterId: string;
  /** Jobs under way that the app is still in. */
  left: number;
  isDone: boolean;
}

interface AppDeletionsOptions {
  readonly sql: SqlPool;
  readonly feed: IndexFeed;
  readonly transactionsMax?: number;
}

export class AppDeletions {
  private readonly sql: SqlPool;
  private readonly feed: IndexFeed;
  private readonly transactionsMax: number;
  /** Of the run. */
  private budget: TransactionBudget;
  /** The app that had its turn last. */
  private afterId = 0;
  /** By app. A new process begins again. */
  private readonly passes = new CappedMap<number, Pass>({ sizeMax: PASSES_MAX });

  constructor({ sql, feed, transactionsMax = TRANSACTIONS_MAX }: AppDeletionsOptions) {
    this.transactionsMax = transactionsMax;
    this.budget = new TransactionBudget(transactionsMax);
    this.sql = sql;
    this.feed = feed;
  }

  /** Runs once; the deleted apps take turns. `nowMs`: by the database's clock. */
  async run(nowMs: number): Promise<void> {
    this.budget = new TransactionBudget(this.transactionsMax);
    const next = await listAppDeletions(this.sql, this.afterId, DELETIONS_MAX);
    const first = next.length < DELETIONS_MAX ? await this.listBefore(this.afterId) : [];
    for (const deletion of [...next, ...first]) {
      if (this.budget.isSpent) return;
      this.afterId = deletion.appId;
      await this.carryOn(deletion, nowMs);
    }
  }

  private async listBefore(appId: number): Promise<readonly AppDeletion[]> {
    const first = await listAppDeletions(this.sql, 0, DELETIONS_MAX);
    return first.filter((deletion) => deletion.appId <= appId);
  }

  private async carryOn(deletion: AppDeletion, nowMs: number): Promise<void> {
    const { sql, feed, budget } = this;
    const isSettled = nowMs - deletion.deletedAtMs >= SETTLED_AFTER_MS;
    const isErased =
      (await budget.empty(DEVICES_MAX, () => this.eraseDevices(deletion))) &&
      (await this.eraseFromJobs(deletion, nowMs, isSettled)) &&
      isSettled &&
      (await budget.empty(ROWS_MAX, () => disconnectTags(sql, deletion, ROWS_MAX))) &&
      (await budget.empty(ROWS_MAX, () => eraseDeviceGroupTags(sql, deletion, ROWS_MAX))) &&
      (await budget.empty(ROWS_MAX, () => eraseTagDays(sql, deletion, ROWS_MAX))) &&
      (await budget.empty(ROWS_MAX, () => eraseDeviceEventsOfApp(sql, deletion, ROWS_MAX))) &&
      (await budget.empty(ROWS_MAX, async () => {
        const groups = await eraseDeviceGroups(sql, deletion, ROWS_MAX);
        await feed.forget(groups);
        return groups.length;
      }));
    if (!isErased || !budget.take()) return;
    await closeAppDeletion(sql, deletion);
    this.passes.delete(deletion.appId);
  }

  private async eraseDevices(deletion: AppDeletion): Promise<number> {
    const places = await devicesOfApp(this.sql, deletion, DEVICES_MAX);
    const { changes } = await eraseDevices(
      this.sql,
      places.map((place) => ({ ...place, registeredBeforeMs: null })),
    );
    await this.feed.apply(changes);
    return places.length;
  }

  /**
   * Answers whether no job has the app any more. A push may have been accepted that found it alive,
   * so only a pass counts that began when none can follow.
   */
  private async eraseFromJobs(
    deletion: AppDeletion,
    nowMs: number,
    isSettled: boolean,
  ): Promise<boolean> {
    const pass = this.passOf(deletion, nowMs, isSettled);
    while (!pass.isDone && this.budget.take()) {
      const { lastId, left } = await eraseFromJobs(this.sql, deletion, pass.afterId, JOBS_AT_ONCE);
      pass.left += left;
      pass.isDone = lastId === null;
      pass.afterId = lastId ?? pass.afterId;
    }
    return pass.isDone && pass.left === 0;
  }

  private passOf({ appId, deletedAtMs }: AppDeletion, nowMs: number, isSettled: boolean): Pass {
    const known = this.passes.get(appId);
    if (known !== undefined && !known.isDone) return known;
    const isTooEarly =
      known !== undefined && isSettled && known.startedAtMs - deletedAtMs < SETTLED_AFTER_MS;
    const isDue =
      known !== undefined && known.left > 0 && nowMs - known.startedAtMs >= PASS_INTERVAL_MS;
    if (known !== undefined && !isTooEarly && !isDue) return known;
    const pass: Pass = { startedAtMs: nowMs, afterId: NO_ID, left: 0, isDone: false };
    this.passes.set(appId, pass);
    return pass;
  }
}
