/** Erases devices with all their data: for dead tokens, retention and the right to be forgotten. */

import { DEVICE_PLACE } from '../database/columns.ts';
import { float8, rowsOf } from '../database/rows.ts';
import type { Fragment, Sql, SqlPool } from '../database/sql.ts';
import { transact } from '../database/transact.ts';
import { UNWRITTEN_MS_MAX } from '../domain/device.ts';
import type {
  DeviceGroupChange,
  DeviceGroupKey,
  DevicePlace,
  Edits,
} from '../domain/device-group-change.ts';
import { changesOf } from '../domain/device-group-change.ts';
import { recordChanges, subscribersBy, touchedDeviceGroups } from '../statistics/record-changes.ts';
import { ERASING_SLOT } from '../statistics/slots.ts';
import { readTagIds } from './sql/tag-ids.ts';

export interface DeviceToErase extends DevicePlace {
  /** Erase it only if its last registration is before this time; null: in any case. */
  readonly registeredBeforeMs: number | null;
}

interface Erased {
  readonly count: number;
  readonly changes: readonly DeviceGroupChange[];
}

/**
 * Erases devices that still meet their condition once their rows are locked, in one transaction.
 * Their ordinals are never given out again.
 */
export const eraseDevices = (sql: SqlPool, devices: readonly DeviceToErase[]): Promise<Erased> =>
  eraseIf(sql, devices, sql``);

/**
 * The same of devices that were idle since a time, and still are when they are locked: a bulk
 * operation or an import gives tags to a device whose last registration stays as old as it is.
 */
export const eraseIdleDevices = (
  sql: SqlPool,
  places: readonly DevicePlace[],
  idleSinceMs: number,
): Promise<Erased> =>
  eraseIf(
    sql,
    places.map((place) => ({ ...place, registeredBeforeMs: null })),
    sql`and ${isIdle(sql, idleSinceMs)}`,
  );

/** Whether the device `d` has no tags, and neither registered nor unsubscribed since. */
export const isIdle = (sql: Sql, idleSinceMs: number): Fragment => sql`
  (d.registered_at < to_timestamp(${idleSinceMs}::float8 / 1000)
    and coalesce(d.unsubscribed_at < to_timestamp(${idleSinceMs}::float8 / 1000), true)
    and d.tag_ids = '{}')`;

async function eraseIf(
  sql: SqlPool,
  devices: readonly DeviceToErase[],
  condition: Fragment,
): Promise<Erased> {
  if (devices.length === 0) return { count: 0, changes: [] };
  return await transact(sql, async (tx) => {
    const locked = await lockDevicesToErase(tx, devices, condition);
    return { count: locked.length, changes: await eraseLocked(tx, locked) };
  });
}

export interface LockedDevice extends DevicePlace, DeviceGroupKey {
  /** Sorted. */
  readonly tagIds: readonly number[];
  readonly facetIds: readonly number[];
  /**
   * It may have repeated its registration after `registeredBeforeMs` without a write (decision 42).
   */
  readonly isDoubtful: boolean;
  /** The last refusal since its last registration; a registration after one is always written. */
  readonly refusedAtMs: number | null;
}

/** Erases devices that are locked. `others`: further changes of the transaction, in any groups. */
export async function eraseLocked(
  tx: Sql,
  devices: readonly LockedDevice[],
  others: {
    readonly groups: readonly DeviceGroupKey[];
    readonly edits: Pick<Edits, 'histories'>;
  } = NOTHING,
): Promise<readonly DeviceGroupChange[]> {
  if (devices.length > 0) await deleteDevices(tx, devices);
  const lost = devices.map((device) => ({
    ...device,
    gained: [],
    lost: device.tagIds,
    subscribers: subscribersBy(device.tagIds.length, 0),
  }));
  const raised = await recordChanges(
    tx,
    lost,
    touchedDeviceGroups(lost, others.groups),
    ERASING_SLOT,
  );
  return changesOf(raised, {
    ...others.edits,
    tokens: devices.map((device) => ({ ...device, deviceId: null })),
    tags: lost.map((device) =>
      device.facetIds.length === 0 ? device : { ...device, lost: lostIdsOf(device) },
    ),
  });
}

const lostIdsOf = ({ tagIds, facetIds }: LockedDevice): readonly number[] => [
  ...tagIds,
  ...facetIds,
];

const NOTHING = { groups: [], edits: {} };

/**
 * Locks devices in the order of keys, as registrations do; each once, even if it is named twice.
 * `condition`: a further one, `and …` of the device `d`, which is looked at again after a wait.
 */
export async function lockDevicesToErase(
  tx: Sql,
  devices: readonly DeviceToErase[],
  condition: Fragment = tx``,
): Promise<readonly LockedDevice[]> {
  const rows = await selectToErase(tx, devices, condition);
  const byPlace = new Map(
    rows.map((row) => [`${row.appId}.${row.platformId}.${row.ordinal}`, row]),
  );
  return [...byPlace.values()].map((row) => ({
    ...row,
    tagIds: readTagIds(row.tagIds),
    facetIds: readTagIds(row.facetIds),
  }));
}

const selectToErase = (tx: Sql, devices: readonly DeviceToErase[], condition: Fragment) => tx<
  (Omit<LockedDevice, 'tagIds' | 'facetIds'> & {
    readonly tagIds: string;
    readonly facetIds: string;
  })[]
>`
  select d.app_id as "appId", d.platform_id as "platformId", d.ordinal, d.ordinal / 8192 as "groupNumber",
    d.tag_ids::text as "tagIds", coalesce(d.facet_ids, '{}')::text as "facetIds",
    coalesce(d.registered_at >= to_timestamp((dead.registered_before_ms - ${UNWRITTEN_MS_MAX}::float8) / 1000), false) as "isDoubtful",
    case when d.refusals > 0 then extract(epoch from d.refused_at)::float8 * 1000 end as "refusedAtMs"
  from devices d
  join ${dead(tx, devices)}
    on d.app_id = dead.app_id and d.platform_id = dead.platform_id and d.ordinal = dead.ordinal
  where (dead.registered_before_ms is null
     or d.registered_at < to_timestamp(dead.registered_before_ms / 1000)) ${condition}
  order by d.app_id, d.platform_id, d.device_key
  for update of d`;

const dead = rowsOf<DeviceToErase>('dead', {
  ...DEVICE_PLACE,
  registered_before_ms: float8(({ registeredBeforeMs }) => registeredBeforeMs),
});

/** Deletes the rows of devices that the transaction has locked. */
export const deleteDevices = (tx: Sql, devices: readonly DevicePlace[]) => tx`
  delete from devices d
  using ${erased(tx, devices)}
  where d.app_id = dead.app_id and d.platform_id = dead.platform_id and d.ordinal = dead.ordinal`;

const erased = rowsOf<DevicePlace>('dead', DEVICE_PLACE);
