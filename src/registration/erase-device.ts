/** Erases a device for its owner: in the database, then in the index. */

import type { AuditOrigin } from '../domain/audit.ts';
import { recordChange } from '../store/audit/record-change.ts';
import { shareClient } from '../store/clients/lock-client.ts';
import type { ErasedDevice } from '../store/devices/erase-device.ts';
import { eraseDevice } from '../store/devices/erase-device.ts';
import type { SqlPool } from '../store/sql.ts';
import { transact } from '../store/transact.ts';
import type { IndexFeed } from '../tag-index/tag-index.ts';
import type { DeviceRef } from './operation.ts';

/** Null: there was neither the device nor an event of it. `origin`: who wants it erased. */
export type Eraser = (
  device: DeviceRef,
  origin: AuditOrigin,
) => Promise<Pick<ErasedDevice, 'device'> | null>;

/** A registration that is under way makes it again, as one that follows. */
export const createEraser =
  (sql: SqlPool, feed: IndexFeed): Eraser =>
  async (key, origin) => {
    const erased = await transact(sql, async (tx) => {
      await shareClient(tx, origin.clientId);
      const erased = await eraseDevice(tx, key);
      const { appId, platformId, deviceKey } = key;
      // Whoever knows the deviceId can tell that it was this one.
      const change = { action: 'device.erase', id: deviceKey, name: null } as const;
      const detail = { appId, platformId };
      if (erased.device === null && erased.events === 0) return null;
      await recordChange(tx, origin, { ...change, detail });
      return erased;
    });
    await feed.apply(erased?.changes ?? []);
    return erased;
  };
