/**
 * Housekeeping: deletes data that is no longer needed, a bounded piece at a time, on any node and
 * on several at once.
 */

import type { Logger } from 'pino';
import { deleteEndedLinks } from '../../access/sql/links.ts';
import { deleteEndedSessions } from '../../access/sql/sessions.ts';
import { AuditLogs } from '../../audit/audit-logs.ts';
import { ExpiredTags } from '../../catalogue/expired-tags.ts';
import { ClockWatch } from '../../database/maintenance/clock-watch.ts';
import { objectIdsUsedShare } from '../../database/object-ids.ts';
import { readClock } from '../../database/read-clock.ts';
import type { SqlPool } from '../../database/sql.ts';
import { TransactionBudget } from '../../database/transaction-budget.ts';
import { Compaction } from '../../devices/compact/compaction.ts';
import { DeviceEvents } from '../../devices/erase/device-events.ts';
import { eraseIdleDevices } from '../../devices/erase-devices.ts';
import { idleDevices } from '../../devices/sql/idle-devices.ts';
import type { UnwantedTags } from '../../devices/sql/unwanted-tags.ts';
import {
  deletedTags,
  disconnectedTags,
  removeTags,
  tagsInOperations,
} from '../../devices/sql/unwanted-tags.ts';
import type { DevicePlace } from '../../domain/device-group-change.ts';
import { deleteOldNotifications } from '../../push/sql/old-notifications.ts';
import { keepStatistics } from '../../statistics/statistics.ts';
import { Recurring } from '../../std/recurring.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';
import type { JobJournal } from '../../telemetry/job-journal.ts';
import { WebhookDeliveries } from '../../webhooks/webhook-deliveries.ts';
import { AppDeletions } from './app-deletions.ts';
import { ClientDeletions } from './client-deletions.ts';
import {
  deleteBulkOperations,
  deleteDeadNodes,
  deleteDeletedTags,
  deleteIdempotencyKeys,
  deleteNotificationDays,
  deleteProviderTokens,
  deleteQuotas,
  deleteTagDays,
  mergeTagDays,
} from './old-rows.ts';

/**
 * Time between two runs. With DEVICES_MAX it covers 17 million devices a day.
 * @limit between two runs of housekeeping
 */
const INTERVAL_MS = 10_000;
/**
 * Devices checked in one run: some 20 ms of the database's time.
 * @limit devices that a run looks at → the next run
 */
const DEVICES_MAX = 2_000;
/**
 * Devices that lose tags in one transaction, and in one run: others wait for the rows of the groups
 * meanwhile.
 * @limit devices that lose unwanted tags in one transaction → the next transaction
 */
const CLEARED_MAX = 1_000;
/**
 * @limit devices that lose unwanted tags in a run, or one tag while it is connected again → the
 * next run; a request to connect it again: `409`, `Retry-After: 10`
 */
const CLEARED_IN_RUN_MAX = 20_000;
/**
 * Pairs of a group and an unwanted tag in one run, and groups: the search through a group takes
 * some 10 ms of the database's time.
 * @limit pairs of a group and an unwanted tag that a run searches → the next run
 */
const PAIRS_MAX = 10_000;
/** @limit groups that a run searches for devices with tags which nobody wants → the next run */
const GROUPS_MAX = 100;
/** @limit transactions of a run of housekeeping → the next run */
const TRANSACTIONS_MAX = 20;
/**
 * Tags that are remembered as disconnected; of more, all tags are looked at.
 * @limit tags that a process remembers as disconnected, for the next run of housekeeping → the next
 * run looks at all tags
 */
const DISCONNECTED_MAX = 1_000;
/** @limit other rows deleted in one transaction → the next one */
const ROWS_MAX = 10_000;
/**
 * Notifications deleted in one transaction; each may have thousands of scopes. With
 * TRANSACTIONS_MAX it is 17 million a day.
 * @limit push jobs deleted in one transaction → the next one
 */
const NOTIFICATIONS_MAX = 100;

/**
 * After this time no transaction is left that found the tag alive: each has few statements, which
 * may take 10 s each (database/transact.ts), as may the pauses between them. What a registration
 * has read waits for its transaction a minute at most (READ_AGE_MS_MAX).
 * @limit a deleted tag is taken off its devices after
 */
const DELETED_TAG_MS = 300_000;
const DAY_MS = 86_400_000;
/** The interface promises 24 hours. */
const IDEMPOTENCY_KEY_MS = DAY_MS;
/**
 * Days of statistics: two years, one of them a leap year.
 * @limit statistics by day are kept → added up, for the number of subscribers and the totals
 */
const STATISTICS_DAY_MS = 731 * DAY_MS;
/**
 * Tokens live an hour, and a freeze 20 minutes.
 * @limit stored tokens that nobody uses → deleted
 */
const PROVIDER_TOKEN_MS = DAY_MS;
/**
 * Longer than any lease that a node may have left (ten minutes and a half): without the row only
 * the lease counts. Each claim reads the dead nodes, so they must be few, even if a node is started
 * again and again.
 * @limit rows of dead nodes → deleted: only the lease counts then
 */
const DEAD_NODE_MS = 1_200_000;
/**
 * Longer than a session of the console lives unused (access/accounts/sessions.ts).
 * @limit a session that nobody used is deleted after
 */
const UNUSED_SESSION_MS = DAY_MS;
/** A bucket is full, and its ramp at the bottom, after minutes. */
const QUOTA_MS = DAY_MS;
/**
 * Who started one looks at it within days.
 * @limit bulk operations that have ended are kept → deleted
 */
const BULK_OPERATION_MS = 7 * DAY_MS;

/**
 * Half of the ids: at the same pace there is as much time again to find the client that makes so
 * many.
 * @limit share of the ids of tags, groups and apps from which the log warns →
 * `tagcast_object_ids_used_ratio` tells the share
 */
const OBJECT_IDS_SHARE_WARNED = 0.5;

/**
 * Time between two searches for rows that no index finds.
 * @limit between two looks for tags on devices of apps that they were disconnected from; the next
 * run looks too after a request that disconnects one
 */
const SWEEP_INTERVAL_MS = 3_600_000;

const START: DevicePlace = { appId: 0, platformId: 0, ordinal: -1 };

export class Housekeeping {
  private readonly sql: SqlPool;
  private readonly feed: IndexFeed;
  private readonly log: Logger;
  private readonly deviceRetentionMs: number;
  private readonly notificationRetentionMs: number;
  /** Each runs, also when one before it fails: what cannot be erased must not hold up the rest. */
  private readonly parts: readonly { run(nowMs: number): Promise<unknown> }[];
  private cursor: DevicePlace = START;
  private sweptAtMs = Number.NEGATIVE_INFINITY;
  /** The last look found more tags that were disconnected than one run takes off. */
  private areDisconnectedLeft = false;
  /** Tags that were disconnected here, and that the next run looks at. */
  private readonly disconnected = new Set<number>();
  private usedShare: number | null = null;
  private readonly runs = new Recurring(INTERVAL_MS, () => this.runLogged());

  constructor(options: {
    readonly sql: SqlPool;
    readonly feed: IndexFeed;
    readonly log: Logger;
    readonly journal: Pick<JobJournal, 'ended'>;
    readonly deviceRetentionMs: number;
    readonly notificationRetentionDays: number;
  }) {
    this.sql = options.sql;
    this.feed = options.feed;
    this.log = options.log;
    this.deviceRetentionMs = options.deviceRetentionMs;
    this.notificationRetentionMs = options.notificationRetentionDays * DAY_MS;
    this.parts = [
      new ClockWatch(options),
      new ExpiredTags(options),
      new AppDeletions(options),
      new ClientDeletions(options),
      new Compaction(options),
      new AuditLogs(options.sql),
      new DeviceEvents(options.sql),
      new WebhookDeliveries(options.sql),
    ];
  }

  /**
   * The share of the ids of tags, groups and apps that was given out, as of the last sweep; null:
   * none yet.
   */
  get objectIdsUsedShare(): number | null {
    return this.usedShare;
  }

  /** Runs from now on, until stopped. */
  start(): void {
    this.runs.start();
  }

  /** A tag was disconnected from an app: the next run takes it off the devices there. */
  expectDisconnected(tagId: number): void {
    if (this.disconnected.size < DISCONNECTED_MAX) this.disconnected.add(tagId);
    else this.areDisconnectedLeft = true;
  }

  /**
   * Takes tags off devices in apps that they were disconnected from, as much as one run does. The
   * next run goes on.
   */
  async takeOff(tagIds: readonly number[]): Promise<void> {
    for (const tagId of tagIds) this.expectDisconnected(tagId);
    await this.purge(await disconnectedTags(this.sql, PAIRS_MAX, tagIds));
  }

  /** Resolves when the run under way has ended. */
  stop(): Promise<void> {
    return this.runs.stop();
  }

  /**
   * One run of every step that is due. `nowMs`: by the database's clock, which stamps the rows; a
   * node's own clock may be days ahead.
   */
  async run(nowMs: number): Promise<void> {
    await this.eraseIdleDevices(nowMs);
    await this.purgeDeletedTags(nowMs);
    await deleteIdempotencyKeys(this.sql, nowMs - IDEMPOTENCY_KEY_MS, ROWS_MAX);
    await deleteBulkOperations(this.sql, BULK_OPERATION_MS, ROWS_MAX);
    await deleteDeadNodes(this.sql, DEAD_NODE_MS, ROWS_MAX);
    // Before notifications are deleted: those that no day counts yet stay.
    await keepStatistics(this.sql);
    await this.deleteOldNotifications();
    const failures: unknown[] = [];
    for (const part of this.parts) {
      await part.run(nowMs).catch((error: unknown) => failures.push(error));
    }
    const isSweepDue = nowMs - this.sweptAtMs >= SWEEP_INTERVAL_MS;
    if (isSweepDue || this.areDisconnectedLeft) await this.purgeDisconnected();
    await this.purgeExpected();
    if (isSweepDue) await this.sweep(nowMs);
    if (failures.length > 0) throw new AggregateError(failures, 'housekeeping could not do all');
  }

  /** Searches for rows that no index finds. */
  private async sweep(nowMs: number): Promise<void> {
    this.usedShare = await objectIdsUsedShare(this.sql);
    if (this.usedShare >= OBJECT_IDS_SHARE_WARNED) {
      this.log.warn(
        { usedShare: this.usedShare },
        'ids of tags and groups are running out: see docs/reference/limits.md',
      );
    }
    await this.mergeTagDays();
    await deleteTagDays(this.sql, nowMs - STATISTICS_DAY_MS, ROWS_MAX);
    await deleteNotificationDays(this.sql, nowMs - STATISTICS_DAY_MS, ROWS_MAX);
    await deleteProviderTokens(this.sql, PROVIDER_TOKEN_MS, ROWS_MAX);
    await deleteQuotas(this.sql, QUOTA_MS, ROWS_MAX);
    await deleteEndedSessions(this.sql, UNUSED_SESSION_MS, ROWS_MAX);
    await deleteEndedLinks(this.sql, ROWS_MAX);
    this.sweptAtMs = nowMs;
  }

  /**
   * Erases idle devices among the next ones. One that is idle no more by the time it is locked
   * stays.
   */
  async eraseIdleDevices(nowMs: number): Promise<number> {
    const idleSinceMs = nowMs - this.deviceRetentionMs;
    const slice = await idleDevices(this.sql, this.cursor, idleSinceMs, DEVICES_MAX);
    this.cursor = slice.last ?? START;
    const { count, changes } = await eraseIdleDevices(this.sql, slice.idle, idleSinceMs);
    await this.feed.apply(changes);
    return count;
  }

  /** Removes deleted tags from devices, and then the tags themselves. */
  async purgeDeletedTags(nowMs: number): Promise<void> {
    const deletedBeforeMs = nowMs - DELETED_TAG_MS;
    await this.purge(await deletedTags(this.sql, deletedBeforeMs, PAIRS_MAX));
    await deleteDeletedTags(this.sql, deletedBeforeMs);
  }

  /**
   * Removes tags from devices in apps that they were disconnected from. A sweep finds those whose
   * node did not live to do it, and what registrations left that were under way at the time.
   */
  async purgeDisconnected(): Promise<void> {
    let isMoreLeft = true;
    // Before the look: others may be disconnected during it.
    this.areDisconnectedLeft = false;
    try {
      isMoreLeft = await this.purge(await disconnectedTags(this.sql, PAIRS_MAX));
    } finally {
      if (isMoreLeft) this.areDisconnectedLeft = true;
    }
  }

  /** The same of the tags that were disconnected here: a look at all tags may take a second. */
  private async purgeExpected(): Promise<void> {
    const tagIds = [...this.disconnected];
    if (tagIds.length === 0) return;
    let left: readonly number[] = tagIds;
    // Before the look, as above.
    this.disconnected.clear();
    try {
      // Before the look, too: an operation may end during it.
      const waiting = await tagsInOperations(this.sql, tagIds);
      const unwanted = await disconnectedTags(this.sql, PAIRS_MAX, tagIds);
      if (!(await this.purge(unwanted))) left = waiting;
    } finally {
      for (const tagId of left) this.disconnected.add(tagId);
    }
  }

  /** Deletes what ended before the retention, in pieces; what this run leaves is the next one's. */
  async deleteOldNotifications(): Promise<void> {
    const { sql, notificationRetentionMs } = this;
    await new TransactionBudget(TRANSACTIONS_MAX).empty(NOTIFICATIONS_MAX, () =>
      deleteOldNotifications(sql, notificationRetentionMs, NOTIFICATIONS_MAX),
    );
  }

  /** Leaves one row of each day that is over, in pieces likewise. */
  private async mergeTagDays(): Promise<void> {
    const budget = new TransactionBudget(TRANSACTIONS_MAX);
    await budget.empty(ROWS_MAX, () => mergeTagDays(this.sql, ROWS_MAX));
  }

  /** Answers whether more may be left. */
  private async purge(unwanted: readonly UnwantedTags[]): Promise<boolean> {
    let left = CLEARED_IN_RUN_MAX;
    for (const tags of unwanted.slice(0, GROUPS_MAX)) {
      let cleared = CLEARED_MAX;
      while (cleared === CLEARED_MAX && left > 0) {
        const { devices, changes } = await removeTags(this.sql, tags, CLEARED_MAX);
        await this.feed.apply(changes);
        cleared = devices;
        left -= devices;
      }
    }
    return unwanted.length > GROUPS_MAX || left <= 0;
  }

  private async runLogged(): Promise<void> {
    try {
      await this.run(await readClock(this.sql));
    } catch (error) {
      this.log.error({ err: error }, 'housekeeping failed; it will be tried again');
    }
  }
}
