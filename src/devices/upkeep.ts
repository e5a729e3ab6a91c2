/** Erases idle devices, and deletes events of devices and ended bulk operations that are old. */

import type { UpkeepJob } from '../database/upkeep-job.ts';
import { byAge, inTurn } from '../database/upkeep-job.ts';
import type { Scope } from '../domain/device.ts';
import type { DevicePlace } from '../domain/device-group-change.ts';
import type { IndexFeed } from '../tag-index/tag-index.ts';
import { eraseIdleDevices } from './erase-devices.ts';
import { idleDevices } from './sql/idle-devices.ts';
import { deleteDeviceEvents, newestTooMany, nextScopesWithEvents } from './sql/old-events.ts';
import { deleteBulkOperations } from './sql/read-operations.ts';

const DAY_MS = 86_400_000;
/**
 * Some 20 ms of the database; 17 million devices a day.
 * @limit devices that a run of housekeeping looks at, for idle ones → the next run
 */
const DEVICES_MAX = 2_000;
/**
 * People ask within days why a phone got nothing.
 * @limit events of devices are kept → deleted
 */
const DEVICE_EVENTS_RETENTION_MS = 30 * DAY_MS;
/**
 * Some 200 bytes each with their indexes. Until its turn comes, an app may have more.
 * @limit events of devices of an app on a platform that are kept, and what comes until its turn →
 * the oldest are deleted
 */
const DEVICE_EVENTS_PER_SCOPE_MAX = 200_000;
/**
 * Some 20 ms of the database's time for each that has so many events.
 * @limit apps on platforms whose events are looked at in a run of housekeeping → the next run
 */
const SCOPES_MAX = 5;
/** @limit events of devices deleted in a transaction of housekeeping → the next one */
const EVENTS_MAX = 10_000;
/** @limit such transactions of a run → the next run */
const TRANSACTIONS_MAX = 20;
/** @limit bulk operations that have ended are kept → deleted */
const BULK_OPERATION_MS = 7 * DAY_MS;
/** @limit ended bulk operations deleted in a run → the next run */
const BULK_OPERATIONS_MAX = 10_000;

const NO_DEVICE: DevicePlace = { appId: 0, platformId: 0, ordinal: -1 };
const NO_SCOPE: Scope = { appId: 0, platformId: 0 };

/** Erases idle devices, slice by slice. One that is idle no more once locked stays. */
export function idleDeviceErasure(feed: IndexFeed, keptMs: number): UpkeepJob {
  let after = NO_DEVICE;
  return {
    name: 'idle devices',
    transactionsMax: 1,
    async run({ sql, nowMs }) {
      const idleSinceMs = nowMs - keptMs;
      const slice = await idleDevices(sql, after, idleSinceMs, DEVICES_MAX);
      after = slice.last ?? NO_DEVICE;
      const { changes } = await eraseIdleDevices(sql, slice.idle, idleSinceMs);
      await feed.apply(changes);
    },
  };
}

export const deviceEvents = (
  eventsMax = DEVICE_EVENTS_PER_SCOPE_MAX,
  batchMax = EVENTS_MAX,
): UpkeepJob => ({
  name: 'events of devices',
  transactionsMax: TRANSACTIONS_MAX,
  run: inTurn<Scope>({
    start: NO_SCOPE,
    ownersMax: SCOPES_MAX,
    unfinished: 'first',
    next: ({ sql }, after, limit) => nextScopesWithEvents(sql, after, limit),
    async serve({ sql, nowMs, budget }, scope) {
      const tooManyMs = (await newestTooMany(sql, scope, eventsMax)) ?? 0;
      const toMs = Math.max(nowMs - DEVICE_EVENTS_RETENTION_MS, tooManyMs);
      return budget.empty(batchMax, () => deleteDeviceEvents(sql, scope, toMs, batchMax));
    },
  }),
});

export const BULK_OPERATIONS: UpkeepJob = {
  name: 'ended bulk operations',
  transactionsMax: 1,
  run: byAge({
    keptMs: BULK_OPERATION_MS,
    batchMax: BULK_OPERATIONS_MAX,
    delete: deleteBulkOperations,
  }),
};
