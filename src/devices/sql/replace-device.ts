/** The statements that replace a token: lock both devices, then move or merge. */

import { rowsOf } from '../../database/rows.ts';
import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type { ApnsEnvironment } from '../../domain/device.ts';
import type { DeviceAttributes, WithAttributes } from '../../domain/device-attributes.ts';
import type { DevicePlace } from '../../domain/device-group-change.ts';
import type { NumberEntry } from '../../domain/device-numbers.ts';
import { entriesOf } from '../../domain/device-numbers.ts';
import {
  ATTRIBUTE_COLUMNS,
  attributesOf,
  keepingKnown,
  selectedAttributes,
} from './attribute-columns.ts';
import type { DeviceKey } from './find-devices.ts';
import { readTagIds } from './tag-ids.ts';

export interface LockedToReplace extends WithAttributes {
  readonly ordinal: number;
  /** Sorted. */
  readonly tagIds: readonly number[];
  /** Sorted. */
  readonly facetIds: readonly number[];
  /** Sorted. */
  readonly numbers: readonly NumberEntry[];
  readonly environment: ApnsEnvironment | null;
  /** The day of its first registration; null: not known. */
  readonly registeredOn: string | null;
}

/** Null: the device does not exist. */
interface LockedPair {
  readonly old: LockedToReplace | null;
  readonly new: LockedToReplace | null;
}

type LockedRow = Omit<LockedToReplace, 'tagIds' | 'facetIds' | 'numbers' | 'attributes'> &
  DeviceAttributes & {
    readonly tagIds: string;
    readonly facetIds: string;
    readonly numbers: string;
    readonly isOld: boolean;
  };

/** Locks those of the two that exist, in the order of keys, as registrations do. */
export async function lockPair(
  tx: Sql,
  { appId, platformId, deviceKey }: DeviceKey,
  newKey: string,
): Promise<LockedPair> {
  const rows = await tx<LockedRow[]>`
    select d.ordinal, d.tag_ids::text as "tagIds", coalesce(d.facet_ids, '{}')::text as "facetIds", ${selectedAttributes(tx)}, d.apns_environment as environment,
      d.registered_on::text as "registeredOn", coalesce(encode(d.numbers, 'hex'), '') as numbers, d.device_key = ${deviceKey}::uuid as "isOld"
    from devices d
    where app_id = ${appId} and platform_id = ${platformId}
      and device_key in (${deviceKey}::uuid, ${newKey}::uuid)
    order by app_id, platform_id, device_key
    for update`;
  const locked = rows.map(
    ({ ordinal, environment, registeredOn, isOld, tagIds, facetIds, numbers, ...row }) => ({
      ordinal,
      environment,
      registeredOn,
      isOld,
      tagIds: readTagIds(tagIds),
      facetIds: readTagIds(facetIds),
      numbers: entriesOf(numbers),
      attributes: attributesOf(row),
    }),
  );
  return {
    old: locked.find(({ isOld }) => isOld) ?? null,
    new: locked.find(({ isOld }) => !isOld) ?? null,
  };
}

/**
 * Gives a device another deviceId, and forgets what providers said of the old one. Fails on the
 * unique key when the new deviceId was registered since both were looked up.
 */
export function moveDevice(
  tx: Sql,
  { appId, platformId, ordinal }: DevicePlace,
  to: WithAttributes & {
    readonly deviceKey: string;
    readonly deviceId: string;
    /** null, or absent: they stay. */
    readonly facetIds?: readonly number[] | null;
    readonly numbers?: readonly NumberEntry[] | null;
  },
) {
  const { facetIds = null, numbers = null } = to;
  const facets = facetIds === null ? tx`` : tx` facet_ids = ${listOrNull(facetIds)}::integer[],`;
  const values = numbers === null ? tx`` : tx` numbers = ${octetsOf(tx, numbers)},`;
  return tx`
    update devices d set
      device_key = ${to.deviceKey}::uuid,
      device_id = ${to.deviceId},
      ${keepingKnown(tx)},${facets}${values}
      registered_at = now(),
      refusals = 0,
      refused_at = null,
      apns_environment = null
    from ${seen(tx, [to])}
    where app_id = ${appId} and platform_id = ${platformId} and ordinal = ${ordinal}`;
}

/** Writes the device that stays after a merge: just named by its app, with what both had. */
export const writeMerged = (
  tx: Sql,
  { appId, platformId, ordinal }: DevicePlace,
  device: WithAttributes &
    Pick<LockedToReplace, 'tagIds' | 'facetIds' | 'numbers' | 'registeredOn'>,
) => tx`
  update devices d set registered_at = now(), refusals = 0, refused_at = null, ${keepingKnown(tx)},
    registered_on = ${device.registeredOn}::text::date, tag_ids = ${list(device.tagIds)}::integer[],
    facet_ids = ${listOrNull(device.facetIds)}::integer[], numbers = ${octetsOf(tx, device.numbers)}
  from ${seen(tx, [device])}
  where app_id = ${appId} and platform_id = ${platformId} and ordinal = ${ordinal}`;

/**
 * Notes that a device goes on at another place, with the reach of jobs that it has there: as the
 * trigger of 0053-reach does for one that moves.
 */
export const notePlaceOfMerged = (
  tx: Sql,
  { appId, platformId, ordinal }: DevicePlace,
  newOrdinal: number,
) => tx`
  insert into moved_ordinals as m (app_id, platform_id, from_ordinal, to_ordinal)
  select app_id, platform_id, from_ordinal, ${newOrdinal}::integer from moved_ordinals
  where app_id = ${appId} and platform_id = ${platformId} and to_ordinal = ${ordinal}::integer
  union all
  select ${appId}::integer, ${platformId}::smallint, ${ordinal}::integer, ${newOrdinal}::integer
  on conflict (app_id, platform_id, from_ordinal) do update set to_ordinal = excluded.to_ordinal`;

/** A device without facets has null. */
const listOrNull = (facetIds: readonly number[]): string | null =>
  facetIds.length === 0 ? null : list(facetIds);

/** The same of one without numbers. */
const octetsOf = (tx: Sql, numbers: readonly NumberEntry[]) =>
  tx`nullif(decode(${numbers.join('')}, 'hex'), '')`;

const seen = rowsOf<WithAttributes>('seen', ATTRIBUTE_COLUMNS);
