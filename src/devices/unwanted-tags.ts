/** Takes deleted and disconnected tags off devices. A bounded piece in a run, on any node. */

import type { SqlPool } from '../database/sql.ts';
import { TransactionBudget } from '../database/transaction-budget.ts';
import type { UpkeepJob, UpkeepRun } from '../database/upkeep-job.ts';
import type { IndexFeed } from '../tag-index/tag-index.ts';
import type { TagsOfGroup } from './sql/unwanted-tags.ts';
import {
  deleteDeletedTags,
  deletedTags,
  disconnectedTags,
  removeTags,
  tagsInOperations,
} from './sql/unwanted-tags.ts';

/**
 * Others wait for the rows of the groups meanwhile.
 * @limit devices that lose unwanted tags in one transaction → the next transaction
 */
const CLEARED_MAX = 1_000;
/**
 * @limit devices that lose unwanted tags in a run, or one tag while it is connected again → the
 * next run; a request to connect it again: `409`, `Retry-After: 10`
 */
const CLEARED_IN_RUN_MAX = 20_000;
/**
 * The search through a group takes some 10 ms of the database's time.
 * @limit pairs of a group and an unwanted tag that a run searches → the next run
 */
const PAIRS_MAX = 10_000;
/** @limit groups that a run searches for devices with unwanted tags → the next run */
const GROUPS_MAX = 100;
/** One for each group, and one more for each CLEARED_MAX devices: the bounds above come first. */
const TRANSACTIONS_MAX = GROUPS_MAX + CLEARED_IN_RUN_MAX / CLEARED_MAX;
/**
 * @limit tags that a process remembers as disconnected, for the next run of housekeeping → the next
 * run looks at all tags
 */
const DISCONNECTED_MAX = 1_000;
/**
 * After this no transaction is left that found the tag alive: each has few statements of 10 s
 * (database/transact.ts), and READ_AGE_MS_MAX bounds what a registration has read.
 * @limit a deleted tag is taken off its devices after
 */
const DELETED_TAG_MS = 300_000;
/**
 * @limit between two looks for tags on devices of apps that they were disconnected from; the next
 * run looks too after a request that disconnects one
 */
const LOOK_INTERVAL_MS = 3_600_000;

export class UnwantedTags {
  readonly #sql: SqlPool;
  readonly #feed: IndexFeed;
  /** The last look found more tags that were disconnected than one run takes off. */
  #areDisconnectedLeft = false;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /** Tags that were disconnected here, and that the next run looks at. */
  readonly #disconnected = new Set<number>();

  readonly deleted: UpkeepJob = {
    name: 'deleted tags',
    transactionsMax: TRANSACTIONS_MAX,
    run: async ({ sql, nowMs, budget }) => {
      const deletedBeforeMs = nowMs - DELETED_TAG_MS;
      await this.#purge(await deletedTags(sql, deletedBeforeMs, PAIRS_MAX), budget);
      // At a stop the budget is spent at once.
      if (!budget.isSpent) await deleteDeletedTags(sql, deletedBeforeMs);
    },
  };

  /**
   * A look at all tags finds those whose node died before, and what registrations under way left.
   */
  readonly disconnected: UpkeepJob = {
    name: 'disconnected tags',
    transactionsMax: TRANSACTIONS_MAX,
    run: async (run) => {
      const isLookDue = run.nowMs - this.#lookedAtMs >= LOOK_INTERVAL_MS;
      if (!isLookDue && !this.#areDisconnectedLeft) return;
      await this.#purgeDisconnected(run);
      if (isLookDue) this.#lookedAtMs = run.nowMs;
    },
  };

  /** The same of the tags that were disconnected here: a look at all tags may take a second. */
  readonly disconnectedHere: UpkeepJob = {
    name: 'tags disconnected here',
    transactionsMax: TRANSACTIONS_MAX,
    run: (run) => this.#purgeExpected(run),
  };

  constructor({ sql, feed }: { readonly sql: SqlPool; readonly feed: IndexFeed }) {
    this.#sql = sql;
    this.#feed = feed;
  }

  /** A tag was disconnected from an app: the next run takes it off the devices there. */
  expectDisconnected(tagId: number): void {
    if (this.#disconnected.size < DISCONNECTED_MAX) this.#disconnected.add(tagId);
    else this.#areDisconnectedLeft = true;
  }

  /** Takes disconnected tags off devices, as much as one run does. The next run goes on. */
  async takeOff(tagIds: readonly number[]): Promise<void> {
    for (const tagId of tagIds) this.expectDisconnected(tagId);
    const unwanted = await disconnectedTags(this.#sql, PAIRS_MAX, tagIds);
    await this.#purge(unwanted, new TransactionBudget(TRANSACTIONS_MAX));
  }

  async #purgeDisconnected({ sql, budget }: UpkeepRun): Promise<void> {
    let isMoreLeft = true;
    // Before the look: others may be disconnected during it.
    this.#areDisconnectedLeft = false;
    try {
      isMoreLeft = await this.#purge(await disconnectedTags(sql, PAIRS_MAX), budget);
    } finally {
      if (isMoreLeft) this.#areDisconnectedLeft = true;
    }
  }

  async #purgeExpected({ sql, budget }: UpkeepRun): Promise<void> {
    const tagIds = [...this.#disconnected];
    if (tagIds.length === 0) return;
    let left: readonly number[] = tagIds;
    this.#disconnected.clear();
    try {
      // Before the look, too: an operation may end during it.
      const waiting = await tagsInOperations(sql, tagIds);
      const unwanted = await disconnectedTags(sql, PAIRS_MAX, tagIds);
      if (!(await this.#purge(unwanted, budget))) left = waiting;
    } finally {
      for (const tagId of left) this.#disconnected.add(tagId);
    }
  }

  /** Answers whether more may be left. */
  async #purge(unwanted: readonly TagsOfGroup[], budget: TransactionBudget): Promise<boolean> {
    let left = CLEARED_IN_RUN_MAX;
    for (const tags of unwanted.slice(0, GROUPS_MAX)) {
      let cleared = CLEARED_MAX;
      while (cleared === CLEARED_MAX && left > 0) {
        if (!budget.take()) return true;
        const { devices, changes } = await removeTags(this.#sql, tags, CLEARED_MAX);
        await this.#feed.apply(changes);
        cleared = devices;
        left -= devices;
      }
    }
    return unwanted.length > GROUPS_MAX || left <= 0;
  }
}
