/**
 * Moves devices out of a group, to ordinals that nobody has had, with their subscriptions and all that is noted of them: all of it or
 * nothing. The ordinals that they leave are never given out again.
 */

import { firstOrdinalOf, groupOf, lastOrdinalOf } from '../../domain/device.ts';
import type { DeviceNote, Edits, GroupChange, GroupKey } from '../../domain/group-change.ts';
import { changesOf } from '../../domain/group-change.ts';
import { raiseGroups } from '../devices/raise-groups.ts';
import type { Sql, SqlPool } from '../sql.ts';
import { list } from '../sql.ts';
import { transact } from '../transact.ts';
import { barSends } from './bar-sends.ts';

export interface DeviceInGroup {
  readonly ordinal: number;
  readonly subscriptions: number;
}

/** The first devices of a group. */
export const devicesOfGroup = (sql: Sql, group: GroupKey, limit: number) => sql<DeviceInGroup[]>`
  select d.ordinal, (
    select count(*) from subscriptions s
    where s.app_id = d.app_id and s.platform_id = d.platform_id and s.ordinal = d.ordinal
  ) as subscriptions
  from devices d
  where d.app_id = ${group.appId} and d.platform_id = ${group.platformId}
    and d.ordinal between ${firstOrdinalOf(group.groupNumber)} and ${lastOrdinalOf(group.groupNumber)}
  order by d.ordinal
  limit ${limit}`;

export interface Move {
  readonly from: number;
  readonly to: number;
}

export interface Moved {
  readonly devices: number;
  /** Nobody is left in the group. */
  readonly isVacant: boolean;
  readonly changes: readonly GroupChange[];
}

/**
 * Moves those of the devices that are still there and that nobody has locked; registrations that come meanwhile wait, and find them at
 * their new places. Null: a send is in the way, and nothing was done.
 */
export const moveDevices = (
  sql: SqlPool,
  group: GroupKey,
  moves: readonly Move[],
): Promise<Moved | null> =>
  transact(sql, async (tx) => {
    if (!(await barSends(tx, group))) return null;
    const devices = await moveRows(tx, group, moves);
    const subscriptions = await moveSubscriptions(tx, group, devices);
    const targets = devices.map(({ to }) => ({ ...group, groupNumber: groupOf(to) }));
    const raised = await raiseGroups(tx, [group, ...targets]);
    const isVacant = await markVacant(tx, group);
    const changes = changesOf(raised, editsOf(group, devices, subscriptions));
    return { devices: devices.length, isVacant, changes };
  });

type MovedDevice = Move & DeviceNote & { readonly deviceId: string };

/** Locks in the order of keys, as registrations do. Places are joined whole, or a planner without statistics reads all of an app. */
const moveRows = (tx: Sql, group: GroupKey, moves: readonly Move[]) => tx<MovedDevice[]>`
  with free as (
    select d.app_id, d.platform_id, d.ordinal, wanted.ordinal_to
    from devices d
    join ${unnested(tx, group, moves)} as wanted (app_id, platform_id, ordinal, ordinal_to)
      on d.app_id = wanted.app_id and d.platform_id = wanted.platform_id and d.ordinal = wanted.ordinal
    order by d.device_key
    for update of d skip locked
  )
  update devices d set ordinal = free.ordinal_to
  from free
  where d.app_id = free.app_id and d.platform_id = free.platform_id and d.ordinal = free.ordinal
  returning free.ordinal as "from", d.ordinal as "to", d.device_id as "deviceId", d.refusals,
    d.apns_environment as environment`;

type MovedSubscription = Move & { readonly tagId: number };

/** Nobody gained or lost a tag, so no day counts it. */
const moveSubscriptions = (tx: Sql, group: GroupKey, devices: readonly Move[]) => tx<
  MovedSubscription[]
>`
  update subscriptions s set ordinal = moved.ordinal_to
  from ${unnested(tx, group, devices)} as moved (app_id, platform_id, ordinal, ordinal_to)
  where s.app_id = moved.app_id and s.platform_id = moved.platform_id and s.ordinal = moved.ordinal
  returning moved.ordinal as "from", s.ordinal as "to", s.tag_id as "tagId"`;

const unnested = (tx: Sql, { appId, platformId }: GroupKey, moves: readonly Move[]) => tx`unnest(
  ${list(moves.map(() => appId))}::int[], ${list(moves.map(() => platformId))}::int[],
  ${list(moves.map(({ from }) => from))}::int[], ${list(moves.map(({ to }) => to))}::int[])`;

/**
 * Notes that nobody is in the group at its version, if so. The transaction has raised the group: whoever put a device there before
 * is seen by this statement, whoever does so later raises it again, and the note says nothing any more.
 */
async function markVacant(tx: Sql, group: GroupKey): Promise<boolean> {
  const { appId, platformId, groupNumber } = group;
  const marked = await tx`
    update device_groups set vacant_version = version
    where app_id = ${appId} and platform_id = ${platformId} and group_number = ${groupNumber}
      and not exists (
        select from devices
        where app_id = ${appId} and platform_id = ${platformId}
          and ordinal between ${firstOrdinalOf(groupNumber)} and ${lastOrdinalOf(groupNumber)}
      )`;
  return marked.count > 0;
}

function editsOf(
  { appId, platformId }: GroupKey,
  devices: readonly MovedDevice[],
  subscriptions: readonly MovedSubscription[],
): Edits {
  const at = (ordinal: number) => ({ appId, platformId, ordinal });
  return {
    tokens: devices.flatMap(({ from, to, deviceId }) => [
      { ...at(from), deviceId: null },
      { ...at(to), deviceId },
    ]),
    added: subscriptions.map(({ to, tagId }) => ({ ...at(to), tagId })),
    removed: subscriptions.map(({ from, tagId }) => ({ ...at(from), tagId })),
    notes: devices
      .filter(({ refusals, environment }) => refusals > 0 || environment !== null)
      .map(({ to, refusals, environment }) => ({ ...at(to), note: { refusals, environment } })),
  };
}
