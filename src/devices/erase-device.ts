/** Erases a device for its owner: in the database, then in the index. */

import { recordChange } from '../audit/record-change.ts';
import { shareClient } from '../clients/lock-client.ts';
import type { SqlPool } from '../database/sql.ts';
import { transact } from '../database/transact.ts';
import type { AuditOrigin } from '../domain/audit.ts';
import type { IndexFeed } from '../tag-index/tag-index.ts';
import type { DeviceRef } from './operation.ts';
import type { ErasedDevice } from './sql/erase-device.ts';
import { eraseDevice } from './sql/erase-device.ts';

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
      // A reader that knows the deviceId can see that it was this device.
      const change = { action: 'device.erase', id: deviceKey, name: null } as const;
      const detail = { appId, platformId };
      if (erased.device === null && erased.events === 0) return null;
      await recordChange(tx, origin, { ...change, detail });
      return erased;
    });
    await feed.apply(erased?.changes ?? []);
    return erased;
  };
