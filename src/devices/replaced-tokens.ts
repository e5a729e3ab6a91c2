/**
 * Erases dead FCM tokens whose installation has registered by its id since (decision 38): dead by
 * FCM's own rule, they need no gate and say nothing about other tokens.
 */

import { integer, rowsOf, uuid } from '../database/rows.ts';
import type { Sql, SqlPool } from '../database/sql.ts';
import { list } from '../database/sql.ts';
import { transact } from '../database/transact.ts';
import { deviceKeyOf, UNWRITTEN_MS_MAX } from '../domain/device.ts';
import type { DeviceGroupChange } from '../domain/device-group-change.ts';
import { installationOfToken } from '../domain/fcm-installation.ts';
import type { NotificationScope } from '../domain/notification.ts';
import { recordReplacedTokens } from '../webhooks/record-events.ts';
import { recordReplaced } from '../webhooks/record-removals.ts';
import type { DeviceToErase } from './erase-devices.ts';
import { eraseLocked, lockDevicesToErase } from './erase-devices.ts';

interface ReplacedTokens {
  /** Number of condemned devices that were taken from the list. */
  readonly devices: number;
  /** The last ordinal that was checked; null: there are no more. */
  readonly lastOrdinal: number | null;
  readonly changes: readonly DeviceGroupChange[];
}

/**
 * Checks up to `limit` dead devices after an ordinal; those replaced no longer count for the gate.
 */
export const carryOutReplacedTokens = (
  sql: SqlPool,
  scope: NotificationScope,
  afterOrdinal: number,
  limit: number,
): Promise<ReplacedTokens> =>
  transact(sql, async (tx) => {
    const dead = await readDead(tx, scope, afterOrdinal, limit);
    const lastOrdinal = dead.length < limit ? null : (dead.at(-1)?.ordinal ?? null);
    const replaced = await findReplaced(tx, scope, dead);
    if (replaced.size === 0) return { devices: 0, lastOrdinal, changes: [] };
    const taken = await takeCondemned(tx, scope, [...replaced.keys()]);
    const locked = await lockDevicesToErase(tx, taken);
    const renamed = locked.map((device) => ({
      ...device,
      newDeviceId: replaced.get(device.ordinal) ?? '',
    }));
    await Promise.all([recordReplaced(tx, locked), recordReplacedTokens(tx, renamed)]);
    const changes = await eraseLocked(tx, locked);
    return { devices: taken.length, lastOrdinal, changes };
  });

interface DeadDevice {
  readonly ordinal: number;
  readonly deviceId: string | null;
}

const readDead = (
  tx: Sql,
  { notificationId, appId, platformId }: NotificationScope,
  afterOrdinal: number,
  limit: number,
) => tx<DeadDevice[]>`
  select c.ordinal, d.device_id as "deviceId"
  from (
    select ordinal from condemned_devices
    where notification_id = ${notificationId} and app_id = ${appId} and platform_id = ${platformId}
      and ordinal > ${afterOrdinal} and not is_refusal
    order by ordinal limit ${limit}
  ) c
  left join devices d on d.app_id = ${appId} and d.platform_id = ${platformId} and d.ordinal = c.ordinal
  order by c.ordinal`;

/**
 * The replaced tokens' ordinals, with the installation ids. Leaves out a token that its app
 * registered after the id, or may have without a write (decision 42).
 */
async function findReplaced(
  tx: Sql,
  { appId, platformId }: NotificationScope,
  dead: readonly DeadDevice[],
): Promise<ReadonlyMap<number, string>> {
  const tokens = dead.flatMap(({ ordinal, deviceId }) => {
    const installation = deviceId === null ? null : installationOfToken(deviceId);
    return installation === null ? [] : { ordinal, installation, key: deviceKeyOf(installation) };
  });
  if (tokens.length === 0) return new Map();
  const rows = await tx<{ ordinal: number }[]>`
    select t.ordinal
    from ${replaceable(tx, tokens)}
    join devices t on t.app_id = ${appId} and t.platform_id = ${platformId} and t.ordinal = replaceable.ordinal
    join devices i on i.device_key = replaceable.installation_key and i.app_id = ${appId} and i.platform_id = ${platformId}
    where i.registered_at >= t.registered_at + ${UNWRITTEN_MS_MAX}::float8 * interval '1 millisecond'`;
  const found = new Set(rows.map(({ ordinal }) => ordinal));
  return new Map(
    tokens.flatMap(({ ordinal, installation }) =>
      found.has(ordinal) ? [[ordinal, installation] as const] : [],
    ),
  );
}

interface DeadToken {
  readonly ordinal: number;
  readonly key: string;
}

const replaceable = rowsOf<DeadToken>('replaceable', {
  ordinal: integer(({ ordinal }) => ordinal),
  installation_key: uuid(({ key }) => key),
});

/** Leaves out devices that another node has taken in the meantime. */
const takeCondemned = (
  tx: Sql,
  { notificationId, appId, platformId }: NotificationScope,
  ordinals: readonly number[],
) => tx<DeviceToErase[]>`
  with taken as (
    delete from condemned_devices
    where notification_id = ${notificationId} and app_id = ${appId} and platform_id = ${platformId}
      and ordinal = any(${list(ordinals)}::integer[]) and not is_refusal
    returning app_id, platform_id, ordinal, registered_before
  ),
  counted as (
    update notification_scopes set gone = gone - (select count(*) from taken)
    where notification_id = ${notificationId} and app_id = ${appId} and platform_id = ${platformId}
  )
  select app_id as "appId", platform_id as "platformId", ordinal,
    extract(epoch from registered_before)::float8 * 1000 as "registeredBeforeMs"
  from taken`;
