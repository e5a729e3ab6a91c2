/** Erases or forgets condemned devices of a scope, a bounded piece in a transaction. */

import type { Sql, SqlPool } from '../../../database/sql.ts';
import { transact } from '../../../database/transact.ts';
import { countRefusals, REFUSALS_MAX } from '../../../devices/count-refusals.ts';
import type { LockedDevice } from '../../../devices/erase-devices.ts';
import { eraseLocked, lockDevicesToErase } from '../../../devices/erase-devices.ts';
import type { DeviceGroupChange, DevicePlace } from '../../../domain/device-group-change.ts';
import type { NotificationScope } from '../../../domain/notification.ts';
import { recordRemovedTokens } from '../../../webhooks/record-events.ts';
import { recordRemovals } from '../../../webhooks/record-removals.ts';
import { deletionGateHolds } from '../ledger/condemn.ts';

interface Condemned extends DevicePlace {
  readonly registeredBeforeMs: number;
  readonly isRefusal: boolean;
  /** Time at which the push that condemned it was accepted. */
  readonly acceptedAtMs: number;
}

interface CarriedOut {
  readonly devices: number;
  readonly changes: readonly DeviceGroupChange[];
}

/**
 * Takes up to `limit` condemned devices: erases dead ones, counts a refusal of refused ones, and
 * erases these at the last refusal. Checked on the locked row: a device that registered since
 * stays; one that may have done so without a write (decision 42) only gets a refusal.
 */
export const carryOutDeletions = (
  sql: SqlPool,
  scope: NotificationScope,
  limit: number,
): Promise<CarriedOut> =>
  transact(sql, async (tx) => {
    const taken = await takeCondemned(tx, scope, limit);
    if (taken.length === 0) return { devices: 0, changes: [] };
    const locked = await lockDevicesToErase(tx, taken);
    const known = new Map(locked.map((device) => [device.ordinal, device]));
    const refusals = taken.filter((condemned) => {
      const device = known.get(condemned.ordinal);
      return device !== undefined && (condemned.isRefusal || isInDoubt(device, condemned));
    });
    const counted = refusals.length === 0 ? [] : await countRefusals(tx, refusals);
    const isRefusal = new Set(refusals.map(({ ordinal }) => ordinal));
    const due = new Set(
      counted.filter((device) => device.refusals >= REFUSALS_MAX).map(({ ordinal }) => ordinal),
    );
    const erased = locked.filter(({ ordinal }) => !isRefusal.has(ordinal) || due.has(ordinal));
    const histories = counted
      .filter(({ ordinal }) => !due.has(ordinal))
      .map((device) => ({ ...device, history: device }));
    const removals = erased.map((device) => {
      const reason = isRefusal.has(device.ordinal) ? 'refused' : 'dead';
      return { ...device, reason } as const;
    });
    if (removals.length > 0) {
      await Promise.all([
        recordRemovals(tx, scope.notificationId, removals),
        recordRemovedTokens(tx, scope.notificationId, removals),
      ]);
    }
    const changes = await eraseLocked(tx, erased, { groups: counted, edits: { histories } });
    return { devices: taken.length, changes };
  });

/** False: it was refused before this send was accepted, and has not registered since. */
const isInDoubt = (
  { isDoubtful, refusedAtMs }: LockedDevice,
  { acceptedAtMs }: Condemned,
): boolean => isDoubtful && (refusedAtMs === null || refusedAtMs >= acceptedAtMs);

/** Forgets up to `limit` condemned devices; answers how many it forgot. */
export const forgetDeletions = async (
  sql: Sql,
  scope: NotificationScope,
  limit: number,
): Promise<number> => (await takeCondemned(sql, scope, limit)).length;

/**
 * Skips devices that another node works on. Checks the gate in the snapshot that shows the devices:
 * a running send may have condemned thousands more.
 */
const takeCondemned = (
  sql: Sql,
  { notificationId, appId, platformId }: NotificationScope,
  limit: number,
) => sql<Condemned[]>`
  -- A statement of its own in the plan: joined row by row it would be asked again and again, and find ever more of them.
  with taken as materialized (
    select ordinal from condemned_devices
    where notification_id = ${notificationId} and app_id = ${appId} and platform_id = ${platformId}
      and exists (
        select from notification_scopes s
        where s.notification_id = ${notificationId} and s.app_id = ${appId} and s.platform_id = ${platformId}
          and (s.deletions in ('released', 'discarded') or not ${deletionGateHolds(sql)})
      )
    order by ordinal limit ${limit}
    for update skip locked
  )
  delete from condemned_devices c using taken
  where c.notification_id = ${notificationId} and c.app_id = ${appId} and c.platform_id = ${platformId}
    and c.ordinal = taken.ordinal
  returning c.app_id as "appId", c.platform_id as "platformId", c.ordinal, c.is_refusal as "isRefusal",
    extract(epoch from c.registered_before)::float8 * 1000 as "registeredBeforeMs",
    (select extract(epoch from n.accepted_at)::float8 * 1000 from notifications n where n.id = ${notificationId})
      as "acceptedAtMs"`;
