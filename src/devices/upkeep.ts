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
/** Devices checked in one run: some 20 ms of the database's time. */
const DEVICES_MAX = 2_000;
/** Whoever asks why a phone got nothing asks within days. */
const DEVICE_EVENTS_RETENTION_MS = 30 * DAY_MS;
/**
 * An app on a platform keeps so many, some 200 bytes each with their indexes. Until its turn comes,
 * it may have more.
 */
const DEVICE_EVENTS_PER_SCOPE_MAX = 200_000;
/** Looked at in one run: some 20 ms of the database's time for each that has so many. */
const SCOPES_MAX = 5;
/** Events deleted in one transaction. */
const EVENTS_MAX = 10_000;
const TRANSACTIONS_MAX = 20;
/** Who started one looks at it within days. */
const BULK_OPERATION_MS = 7 * DAY_MS;
const BULK_OPERATIONS_MAX = 10_000;

const NO_DEVICE: DevicePlace = { appId: 0, platformId: 0, ordinal: -1 };
const NO_SCOPE: Scope = { appId: 0, platformId: 0 };

/**
 * Erases idle devices among the next ones, slice by slice. One that is idle no more by the time it
 * is locked stays.
 */
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

/** Deletes events that are too old, or too many of an app on a platform. */
export const deviceEvents = (
  eventsMax = DEVICE_EVENTS_PER_SCOPE_MAX,
  lotMax = EVENTS_MAX,
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
      return budget.empty(lotMax, () => deleteDeviceEvents(sql, scope, toMs, lotMax));
    },
  }),
});

export const BULK_OPERATIONS: UpkeepJob = {
  name: 'ended bulk operations',
  transactionsMax: 1,
  run: byAge({
    keptMs: BULK_OPERATION_MS,
    lotMax: BULK_OPERATIONS_MAX,
    delete: deleteBulkOperations,
  }),
};
