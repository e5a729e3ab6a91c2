/** The saved devices of a client that trials go to. */

import type { Sql } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';
import { deviceKeyOf } from '../../domain/device.ts';

interface TestDevice extends Scope {
  readonly id: number;
  readonly name: string;
  /** In the form in which a registered device has it. */
  readonly deviceId: string;
  readonly createdAt: number;
}

type NewTestDevice = Omit<TestDevice, 'id' | 'createdAt'>;

const columns = (sql: Sql) => sql`
  id, name, app_id as "appId", platform_id as "platformId", device_id as "deviceId",
  floor(extract(epoch from created_at) * 1000)::float8 as "createdAt"`;

export const listTestDevices = (sql: Sql, clientId: number) => sql<TestDevice[]>`
  select ${columns(sql)} from test_devices where client_id = ${clientId} order by id`;

/** Null: this device is saved already. */
export async function insertTestDevice(
  tx: Sql,
  clientId: number,
  { appId, platformId, deviceId, name }: NewTestDevice,
): Promise<TestDevice | null> {
  const [row] = await tx<TestDevice[]>`
    insert into test_devices (client_id, app_id, platform_id, device_key, device_id, name)
    values (${clientId}, ${appId}, ${platformId}, ${deviceKeyOf(deviceId)}::uuid, ${deviceId}, ${name})
    on conflict do nothing
    returning ${columns(tx)}`;
  return row ?? null;
}

/** Answers what it was; null: there is none with this id. */
export async function deleteTestDevice(
  tx: Sql,
  clientId: number,
  id: number,
): Promise<Pick<TestDevice, 'name'> | null> {
  const [row] = await tx<Pick<TestDevice, 'name'>[]>`
    delete from test_devices where id = ${id} and client_id = ${clientId} returning name`;
  return row ?? null;
}
