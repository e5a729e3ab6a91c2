/** Erases a device for its owner: in the database, then in the index. */

import { eraseDevice } from '../store/devices/erase-device.ts';
import type { DeviceDetails } from '../store/devices/read-device.ts';
import type { SqlPool } from '../store/sql.ts';
import type { IndexFeed } from '../tag-index/tag-index.ts';
import type { DeviceRef } from './operation.ts';

/** Answers the device as it was; null: there was none. */
export type Eraser = (device: DeviceRef) => Promise<DeviceDetails | null>;

/** A registration that is under way makes it again, as one that follows. */
export const createEraser =
  (sql: SqlPool, feed: IndexFeed): Eraser =>
  async (key) => {
    const { device, changes } = await eraseDevice(sql, key);
    await feed.apply(changes);
    return device;
  };
