/**
 * Compaction: moves the last devices of sparse groups together, to fresh ordinals (decision 33).
 */

import type { Logger } from 'pino';
import type { SqlPool } from '../../database/sql.ts';
import type { UpkeepJob, UpkeepRun } from '../../database/upkeep-job.ts';
import type { Scope } from '../../domain/device.ts';
import { GROUP_DEVICES, lastOrdinalOf, scopeKeyOf } from '../../domain/device.ts';
import type { DeviceGroupKey } from '../../domain/device-group-change.ts';
import { BEFORE_ALL } from '../../tag-index/groups/list-device-groups.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';
import { ORDINAL_END_MAX } from '../device-limit.ts';
import type { Moved } from '../sql/move-devices.ts';
import { devicesOfGroup, moveDevices } from '../sql/move-devices.ts';
import { reserveOrdinals } from '../sql/reserve-ordinals.ts';
import { sparseDeviceGroups } from '../sql/sparse-device-groups.ts';

/**
 * Holes appear over weeks; with GROUPS_MAX these are 750 million ordinals a day.
 * @limit between two searches of compaction
 */
const LOOK_INTERVAL_MS = 60_000;
/**
 * Each 2,049 entries of an index at most: some tens of milliseconds of the database.
 * @limit groups that compaction looks at in one search → the next search
 */
const GROUPS_MAX = 64;
/**
 * Four such groups become one; moves use at most a third more ordinals than new devices.
 * @limit a group is sparse up to so many devices → left as it is
 */
const SPARSE_DEVICES_MAX = GROUP_DEVICES / 4;
/**
 * Eight become two, so that there is always a gain.
 * @limit sparse groups of one search, to be moved → left as they are
 */
const SPARSE_GROUPS_MIN = 8;
/**
 * Writers may have ordinals in stock in these. A device moved too early is only moved again.
 * @limit newest groups of an app on a platform that are left alone
 */
const FILLING_GROUPS = 16;
/**
 * Pushes of the client wait for each transaction.
 * @limit devices moved in a transaction of compaction → the next one
 */
const DEVICES_MAX = 250;
/**
 * @limit tags that the devices of such a transaction have together → the next one; a single device
 * may have more, alone
 */
const TAGS_MAX = 5_000;
/** @limit transactions of a run of compaction → the next run */
const TRANSACTIONS_MAX = 20;

/** Fresh ordinals: from `next` up to but without `end`. */
interface Range {
  next: number;
  readonly end: number;
}

interface CompactionOptions {
  readonly sql: SqlPool;
  readonly feed: IndexFeed;
  readonly log: Logger;
}

export class Compaction implements UpkeepJob {
  readonly name = 'sparse groups';
  readonly transactionsMax = TRANSACTIONS_MAX;
  readonly #options: CompactionOptions;
  /** For each (app, platform) ever compacted here. Ordinals left at a range's end stay unused. */
  readonly #ranges = new Map<string, Range>();
  #after: DeviceGroupKey = BEFORE_ALL;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #sources: readonly DeviceGroupKey[] = [];

  constructor(options: CompactionOptions) {
    this.#options = options;
  }

  /** Does a bounded piece of the work. */
  async run({ nowMs, budget }: UpkeepRun): Promise<void> {
    if (this.#sources.length === 0 && nowMs - this.#lookedAtMs >= LOOK_INTERVAL_MS) {
      this.#lookedAtMs = nowMs;
      this.#sources = await this.#look();
    }
    // A failed group is not tried again and again: a later search finds it.
    let sources = this.#sources;
    this.#sources = [];
    let devices = 0;
    let groups = 0;
    for (let [source] = sources; source !== undefined && budget.take(); [source] = sources) {
      const piece = await this.#movePiece(source);
      if (piece === null) sources = sources.filter((other) => !isSameScope(other, source));
      else if (piece.isLast) sources = sources.slice(1);
      devices += piece?.devices ?? 0;
      groups += Number(piece?.isVacant ?? false);
    }
    this.#sources = sources;
    if (devices + groups === 0) return;
    this.#options.log.info({ devices, groups }, 'devices of sparse groups were moved together');
  }

  /**
   * The sparse groups of the next window, of each (app, platform) that has enough of them there.
   */
  async #look(): Promise<readonly DeviceGroupKey[]> {
    const { sparse, last } = await sparseDeviceGroups(
      this.#options.sql,
      this.#after,
      { devicesMax: SPARSE_DEVICES_MAX, fillingGroups: FILLING_GROUPS },
      GROUPS_MAX,
    );
    this.#after = last ?? BEFORE_ALL;
    return sparse.filter(
      (group) => sparse.filter((other) => isSameScope(other, group)).length >= SPARSE_GROUPS_MIN,
    );
  }

  /** Null: a send covers the (app, platform), or it has no ordinals left. */
  async #movePiece(source: DeviceGroupKey): Promise<(Moved & { readonly isLast: boolean }) | null> {
    const { sql, feed } = this.#options;
    const found = await devicesOfGroup(sql, source, DEVICES_MAX);
    const range = found.length === 0 ? { next: 0, end: 0 } : await this.#rangeAbove(source);
    if (range === null) return null;
    const { next, end } = range;
    const moves = fitting(found, Math.min(found.length, end - next)).map(({ ordinal }, at) => ({
      from: ordinal,
      to: next + at,
    }));
    // Before the transaction: if it fails, it may have been committed all the same.
    range.next += moves.length;
    const moved = await moveDevices(sql, source, moves);
    if (moved === null) {
      range.next = next;
      return null;
    }
    await feed.apply(moved.changes);
    return { ...moved, isLast: moves.length === found.length && found.length < DEVICES_MAX };
  }

  /**
   * Ordinals in a group of this process alone, later than all of `source`: a walk over devices in
   * the order of their ordinals, such as an export, may meet a device twice, and misses none.
   */
  async #rangeAbove(source: DeviceGroupKey): Promise<Range | null> {
    const key = scopeKeyOf(source);
    const known = this.#ranges.get(key);
    if (
      known !== undefined &&
      known.next < known.end &&
      known.next > lastOrdinalOf(source.groupNumber)
    ) {
      return known;
    }
    const start = await reserveOrdinals(this.#options.sql, source, {
      count: GROUP_DEVICES,
      alignment: GROUP_DEVICES,
      endMax: ORDINAL_END_MAX,
    });
    if (start === null) return null;
    const range = { next: start, end: start + GROUP_DEVICES };
    this.#ranges.set(key, range);
    return range;
  }
}

const isSameScope = (a: Scope, b: Scope): boolean =>
  a.appId === b.appId && a.platformId === b.platformId;

/** The first of the devices that have TAGS_MAX tags together; a single one may exceed it, alone. */
function fitting<Device extends { readonly tags: number }>(
  devices: readonly Device[],
  devicesMax: number,
): readonly Device[] {
  let tags = 0;
  const beyond = devices.findIndex((device, at) => {
    tags += device.tags;
    return at >= devicesMax || (at > 0 && tags > TAGS_MAX);
  });
  return beyond === -1 ? devices : devices.slice(0, beyond);
}
