/** Reads and erases a device for its own app. */

import type { Sql, SqlPool } from '../database/sql.ts';
import { transact } from '../database/transact.ts';
import type { IndexFeed } from '../tag-index/tag-index.ts';
import type { DeviceRef } from './operation.ts';
import { eraseDevice } from './sql/erase-device.ts';
import type { KnownAttribute } from './sql/known-attributes.ts';
import { knownAttributes } from './sql/known-attributes.ts';

interface OwnDevice {
  readonly registeredAt: number;
  readonly lastSeenAt: number;
  readonly attributes: readonly KnownAttribute[];
}

export class OwnDevices {
  readonly #sql: SqlPool;
  readonly #feed: IndexFeed;

  constructor({ sql, feed }: { readonly sql: SqlPool; readonly feed: IndexFeed }) {
    this.#sql = sql;
    this.#feed = feed;
  }

  /** Null: it is not known. */
  async read(device: DeviceRef): Promise<OwnDevice | null> {
    return (await readOwnDevice(this.#sql, device)) ?? null;
  }

  /**
   * With its events. No entry of the audit log: who has the deviceId is the device, and a million
   * of them would push all others out.
   */
  async erase(device: DeviceRef): Promise<void> {
    const { changes } = await transact(this.#sql, (tx) => eraseDevice(tx, device));
    await this.#feed.apply(changes);
  }
}

async function readOwnDevice(
  sql: Sql,
  { appId, platformId, deviceKey }: DeviceRef,
): Promise<OwnDevice | undefined> {
  const [device] = await sql<OwnDevice[]>`
    select floor(extract(epoch from coalesce(d.registered_on::timestamp at time zone 'UTC', d.registered_at)) * 1000)::float8 as "registeredAt",
      floor(extract(epoch from d.registered_at) * 1000)::float8 as "lastSeenAt",
      ${knownAttributes(sql)} as attributes
    from devices d
    where d.device_key = ${deviceKey}::uuid and d.app_id = ${appId} and d.platform_id = ${platformId}`;
  return device;
}
