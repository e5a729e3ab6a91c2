/**
 * Erases what deleted apps leave, on any node and on several at once: devices, their part of push
 * jobs, the rest. What is left stands in the tables, so a node that dies loses nothing.
 */

import { CappedMap } from '../../../packages/std/src/capped-map.ts';
import type { AppDeletion } from '../../catalogue/list-deletions.ts';
import { listAppDeletions } from '../../catalogue/list-deletions.ts';
import type { SqlPool } from '../../database/sql.ts';
import type { UpkeepJob, UpkeepRun } from '../../database/upkeep-job.ts';
import { inTurn } from '../../database/upkeep-job.ts';
import { eraseDevices } from '../../devices/erase-devices.ts';
import {
  closeAppDeletion,
  devicesOfApp,
  disconnectTags,
  eraseDeviceEventsOfApp,
  eraseDeviceGroups,
  eraseOfApp,
  eraseTagDays,
} from '../../devices/sql/erase-rest.ts';
import { eraseFromJobs } from '../../push/sql/erase-jobs.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';

/** @limit deleted apps of one look → the next look */
const DELETIONS_MAX = 100;
/**
 * With housekeeping's interval it is 2,000 devices a second on each node.
 * @limit transactions of a run of housekeeping that erase data of deleted apps → the next run
 */
const TRANSACTIONS_MAX = 20;
/** @limit devices of deleted apps erased in a transaction → the next one */
const DEVICES_MAX = 1_000;
/** @limit other rows of deleted apps deleted in a transaction → the next one */
const ROWS_MAX = 10_000;
/**
 * A look at an index each.
 * @limit push jobs of deleted apps looked at in a transaction, and rows deleted → the next one
 */
const JOBS_AT_ONCE = { jobs: 1_000, rows: ROWS_MAX };
/**
 * Then no transaction and no cache is left that found the app, or client, alive.
 * @limit a deleted app or client is forgotten after
 */
export const SETTLED_AFTER_MS = 300_000;
/**
 * @limit all jobs of its client are looked at again after, while one of the app's jobs does not end
 */
const PASS_INTERVAL_MS = 60_000;
/** @limit deleted apps whose look through the jobs is remembered → it begins again */
const PASSES_MAX = 1_000;

const NO_ID = '00000000-0000-0000-0000-000000000000';

interface Pass {
  readonly startedAtMs: number;
  afterId: string;
  /** Jobs under way that the app is still in. */
  left: number;
  isDone: boolean;
}

export class AppDeletions implements UpkeepJob {
  readonly name = 'deleted apps';
  readonly transactionsMax: number;
  readonly run = inTurn<Pick<AppDeletion, 'appId'>, AppDeletion>({
    start: { appId: 0 },
    ownersMax: DELETIONS_MAX,
    unfinished: 'last',
    next: ({ sql }, { appId }) => listRound(sql, appId),
    serve: (run, deletion) => this.#carryOn(run, deletion),
  });
  readonly #feed: IndexFeed;
  /** Keyed by app. A new process begins again. */
  readonly #passes = new CappedMap<number, Pass>({ sizeMax: PASSES_MAX });

  constructor(feed: IndexFeed, transactionsMax = TRANSACTIONS_MAX) {
    this.#feed = feed;
    this.transactionsMax = transactionsMax;
  }

  async #carryOn(run: UpkeepRun, deletion: AppDeletion): Promise<boolean> {
    const { sql, nowMs, budget } = run;
    const isSettled = nowMs - deletion.deletedAtMs >= SETTLED_AFTER_MS;
    const isErased =
      (await budget.empty(DEVICES_MAX, () => this.#eraseDevices(sql, deletion))) &&
      (await this.#eraseFromJobs(run, deletion, isSettled)) &&
      isSettled &&
      (await budget.empty(ROWS_MAX, () => disconnectTags(sql, deletion, ROWS_MAX))) &&
      (await budget.empty(ROWS_MAX, () =>
        eraseOfApp(sql, 'device_group_tags', deletion, ROWS_MAX),
      )) &&
      (await budget.empty(ROWS_MAX, () => eraseTagDays(sql, deletion, ROWS_MAX))) &&
      (await budget.empty(ROWS_MAX, () => eraseDeviceEventsOfApp(sql, deletion, ROWS_MAX))) &&
      (await budget.empty(ROWS_MAX, () => eraseOfApp(sql, 'moved_ordinals', deletion, ROWS_MAX))) &&
      (await budget.empty(ROWS_MAX, async () => {
        const groups = await eraseDeviceGroups(sql, deletion, ROWS_MAX);
        await this.#feed.forget(groups);
        return groups.length;
      }));
    if (!isErased || !budget.take()) return false;
    await closeAppDeletion(sql, deletion);
    this.#passes.delete(deletion.appId);
    return true;
  }

  async #eraseDevices(sql: SqlPool, deletion: AppDeletion): Promise<number> {
    const places = await devicesOfApp(sql, deletion, DEVICES_MAX);
    const { changes } = await eraseDevices(
      sql,
      places.map((place) => ({ ...place, registeredBeforeMs: null })),
    );
    await this.#feed.apply(changes);
    return places.length;
  }

  /**
   * Whether no job has the app any more. A push may have been accepted that found it alive: only a
   * pass counts that began when none can follow.
   */
  async #eraseFromJobs(
    { sql, nowMs, budget }: UpkeepRun,
    deletion: AppDeletion,
    isSettled: boolean,
  ): Promise<boolean> {
    const pass = this.#passOf(deletion, nowMs, isSettled);
    while (!pass.isDone && budget.take()) {
      const { lastId, left } = await eraseFromJobs(sql, deletion, pass.afterId, JOBS_AT_ONCE);
      pass.left += left;
      pass.isDone = lastId === null;
      pass.afterId = lastId ?? pass.afterId;
    }
    return pass.isDone && pass.left === 0;
  }

  #passOf({ appId, deletedAtMs }: AppDeletion, nowMs: number, isSettled: boolean): Pass {
    const known = this.#passes.get(appId);
    if (known !== undefined && !known.isDone) return known;
    const isTooEarly =
      known !== undefined && isSettled && known.startedAtMs - deletedAtMs < SETTLED_AFTER_MS;
    const isDue =
      known !== undefined && known.left > 0 && nowMs - known.startedAtMs >= PASS_INTERVAL_MS;
    if (known !== undefined && !isTooEarly && !isDue) return known;
    const pass: Pass = { startedAtMs: nowMs, afterId: NO_ID, left: 0, isDone: false };
    this.#passes.set(appId, pass);
    return pass;
  }
}

/** The apps after this one, and then those up to it. */
async function listRound(sql: SqlPool, appId: number): Promise<readonly AppDeletion[]> {
  const next = await listAppDeletions(sql, appId, DELETIONS_MAX);
  if (next.length === DELETIONS_MAX) return next;
  const first = await listAppDeletions(sql, 0, DELETIONS_MAX);
  return [...next, ...first.filter((deletion) => deletion.appId <= appId)];
}
