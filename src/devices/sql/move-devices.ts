/** Moves devices out of a group, to fresh ordinals. The old ones are never given out again. */

import { DEVICE_PLACE } from '../../database/columns.ts';
import { integer, rowsOf } from '../../database/rows.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import { firstOrdinalOf, lastOrdinalOf } from '../../domain/device.ts';
import type {
  DeviceGroupChange,
  DeviceGroupKey,
  DeviceHistory,
  DevicePlace,
  Edits,
} from '../../domain/device-group-change.ts';
import { changesOf } from '../../domain/device-group-change.ts';
import { recordChanges, touchedDeviceGroups } from '../../statistics/record-changes.ts';
import { ERASING_SLOT } from '../../statistics/slots.ts';
import { barSends } from './bar-sends.ts';

interface DeviceInGroup {
  readonly ordinal: number;
  readonly tags: number;
}

export const devicesOfGroup = (sql: Sql, group: DeviceGroupKey, limit: number) => sql<
  DeviceInGroup[]
>`
  select d.ordinal, cardinality(d.tag_ids) as tags
  from devices d
  where d.app_id = ${group.appId} and d.platform_id = ${group.platformId}
    and d.ordinal between ${firstOrdinalOf(group.groupNumber)} and ${lastOrdinalOf(group.groupNumber)}
  order by d.ordinal
  limit ${limit}`;

interface Move {
  readonly from: number;
  readonly to: number;
}

export interface Moved {
  readonly devices: number;
  /** No device is left in the group. */
  readonly isVacant: boolean;
  readonly changes: readonly DeviceGroupChange[];
}

/**
 * Moves those that still exist and are not locked. Registrations of them wait, and find them in a
 * second try. Null: a send is in the way, and nothing was done.
 */
export const moveDevices = (
  sql: SqlPool,
  group: DeviceGroupKey,
  moves: readonly Move[],
): Promise<Moved | null> =>
  transact(sql, async (tx) => {
    if (!(await barSends(tx, group))) return null;
    const devices = await moveRows(
      tx,
      moves.map(({ from, to }) => ({ ...at(group, from), to })),
    );
    const arrived = devices.map(({ to, tagIds }) => ({
      ...at(group, to),
      gained: tagIds,
    }));
    // No device gained or lost a tag, so no day counts it.
    const raised = await recordChanges(tx, [], touchedDeviceGroups(arrived, [group]), ERASING_SLOT);
    const isVacant = await markVacant(tx, group);
    const changes = changesOf(raised, editsOf(group, devices));
    return { devices: devices.length, isVacant, changes };
  });

type MovedDevice = Move &
  DeviceHistory & {
    readonly deviceId: string;
    readonly tagIds: readonly number[];
    readonly facetIds: readonly number[] | null;
  };

/**
 * Locks in the order of keys, as registrations do. The join names app, platform and ordinal:
 * otherwise a planner without statistics reads all devices of the app.
 */
const moveRows = (tx: Sql, moves: readonly Wanted[]) => tx<MovedDevice[]>`
  with free as (
    select d.app_id, d.platform_id, d.ordinal, wanted.ordinal_to
    from devices d
    join ${wanted(tx, moves)}
      on d.app_id = wanted.app_id and d.platform_id = wanted.platform_id and d.ordinal = wanted.ordinal
    order by d.device_key
    for update of d skip locked
  )
  update devices d set ordinal = free.ordinal_to
  from free
  where d.app_id = free.app_id and d.platform_id = free.platform_id and d.ordinal = free.ordinal
  returning free.ordinal as "from", d.ordinal as "to", d.device_id as "deviceId", d.refusals,
    d.apns_environment as environment, d.tag_ids as "tagIds", d.facet_ids as "facetIds"`;

interface Wanted extends DevicePlace {
  readonly to: number;
}

const wanted = rowsOf<Wanted>('wanted', {
  ...DEVICE_PLACE,
  ordinal_to: integer(({ to }) => to),
});

/**
 * Notes an empty group for its version, and deletes its tags. The version is raised already: this
 * sees every earlier device, and a later one makes the note worthless.
 */
async function markVacant(tx: Sql, group: DeviceGroupKey): Promise<boolean> {
  const { appId, platformId, groupNumber } = group;
  const marked = await tx`
    update device_groups set vacant_version = version, tags_epoch = tags_epoch + 1
    where app_id = ${appId} and platform_id = ${platformId} and group_number = ${groupNumber}
      and not exists (
        select from devices
        where app_id = ${appId} and platform_id = ${platformId}
          and ordinal between ${firstOrdinalOf(groupNumber)} and ${lastOrdinalOf(groupNumber)}
      )`;
  if (marked.count === 0) return false;
  // Joins the tags of the client, because the table is sorted by tag.
  await tx`
    delete from device_group_tags g
    using tags t join apps a on a.client_id = t.client_id
    where a.id = ${appId} and g.app_id = ${appId} and g.platform_id = ${platformId} and g.tag_id = t.id
      and g.group_number = ${groupNumber}`;
  return true;
}

const at = ({ appId, platformId }: DeviceGroupKey, ordinal: number): DevicePlace => ({
  appId,
  platformId,
  ordinal,
});

const editsOf = (group: DeviceGroupKey, devices: readonly MovedDevice[]): Edits => ({
  tokens: devices.flatMap(({ from, to, deviceId }) => [
    { ...at(group, from), deviceId: null },
    { ...at(group, to), deviceId },
  ]),
  tags: devices.flatMap(({ from, to, tagIds, facetIds }) => {
    const ids = facetIds === null ? tagIds : [...tagIds, ...facetIds];
    return [
      { ...at(group, from), gained: [], lost: ids },
      { ...at(group, to), gained: ids, lost: [] },
    ];
  }),
  histories: devices
    .filter(({ refusals, environment }) => refusals > 0 || environment !== null)
    .map(({ to, refusals, environment }) => ({
      ...at(group, to),
      history: { refusals, environment },
    })),
});
