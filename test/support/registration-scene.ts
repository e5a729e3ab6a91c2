/** A node's Registration with a tenant and tags, for tests that order what its stages do. */

import type { Sql, SqlPool } from '../../src/database/sql.ts';
import type { Store } from '../../src/database/store.ts';
import { transact } from '../../src/database/transact.ts';
import { deviceRef } from '../../src/devices/operation.ts';
import type { Registration } from '../../src/devices/register/registration.ts';
import { NO_ATTRIBUTES } from '../../src/domain/device-attributes.ts';
import type { Limits } from './app-api.ts';
import { makeRegistration } from './app-api.ts';
import { makeTenant } from './tenant.ts';
import { untilLockWaits } from './until-lock-waits.ts';

/** The platform of all devices of a scene. */
export const PLATFORM = 3;

export type Submit = (
  kind: 'reg' | 'set',
  deviceId: string,
  tagIds: readonly number[],
) => ReturnType<Registration['submit']>;

/** Submits operations on devices of the app. */
export const submitterOf =
  (registration: Registration, appId: number): Submit =>
  (kind, deviceId, tagIds) =>
    registration.submit({
      kind,
      device: deviceRef(appId, PLATFORM, deviceId),
      tagIds,
      attributes: NO_ATTRIBUTES,
    });

export async function openRegistrationScene(store: Store, tags: number, limits: Limits = {}) {
  const { sql } = store;
  const tenant = await makeTenant(sql, 'acme');
  const tagIds = await tenant.makeTags(tags);
  const registration = makeRegistration(store, limits);
  const submit = submitterOf(registration, tenant.appId);
  return { sql, tenant, tagIds, registration, submit };
}

/**
 * Runs `body` while a write of the device 'held' waits for its row, which `tx` has locked; answers
 * that write and what `body` answers.
 */
export const whileAWriteWaits = (
  sql: SqlPool,
  write: () => Promise<unknown>,
  body: (tx: Sql) => Promise<readonly Promise<unknown>[]>,
): Promise<readonly Promise<unknown>[]> =>
  transact(sql, async (tx) => {
    await tx`select from devices where device_id = 'held' for update`;
    const written = write();
    await untilLockWaits('it waits', sql);
    return [written, ...(await body(tx))];
  });
