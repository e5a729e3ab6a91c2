/**
 * Reads the places that pushes have taken in a group of devices (decision 78), also those of
 * devices that compaction has moved there since (moved_ordinals).
 */

import type { Sql } from '../../../database/sql.ts';
import { firstOrdinalOf, GROUP_DEVICES, lastOrdinalOf } from '../../../domain/device.ts';
import type { DeviceGroupKey } from '../../../domain/device-group-change.ts';
import type { CapLimit, CapTerms } from '../../../domain/policies.ts';
import { DevicePlanes } from './device-planes.ts';
import { addDevice, addWords, hasDevice, noDevices } from './reach-words.ts';

interface Places {
  readonly notificationId: string;
  readonly category: string;
  /** Since they last changed. 0: the job may still send there, or it is no matter how long. */
  readonly ageMs: number;
  /** The devices of now that have one. */
  readonly held: Uint8Array;
  /** The same, with those that were given back in this group. */
  readonly taken: Uint8Array;
  /** Those that were left out. */
  readonly withheld: Uint8Array;
}

interface Row extends Pick<Places, 'notificationId' | 'category' | 'ageMs'> {
  readonly groupNumber: number;
  readonly taken: Uint8Array;
  readonly returned: Uint8Array | null;
  readonly withheld: Uint8Array | null;
  readonly moved: readonly (readonly [from: number, to: number])[] | null;
}

interface Wanted {
  /** This one's places are wanted, whenever it took them. */
  readonly notificationId: string;
  /** The others must be younger, unless their job may still send. 0: none of them. */
  readonly maxAgeMs: number;
  /** It does not matter how old younger ones are. */
  readonly minAgeMs: number;
}

/** In the order of the jobs. One that moved from several groups is there once for each. */
export async function readPlaces(
  sql: Sql,
  { appId, platformId, groupNumber }: DeviceGroupKey,
  { notificationId, maxAgeMs, minAgeMs }: Wanted,
): Promise<readonly Places[]> {
  const rows = await sql<Row[]>`
    with moved as materialized (
      select from_ordinal, to_ordinal from moved_ordinals
      where app_id = ${appId} and platform_id = ${platformId}
        and to_ordinal between ${firstOrdinalOf(groupNumber)} and ${lastOrdinalOf(groupNumber)}
    ),
    groups as (
      select ${groupNumber}::integer as group_number
      union select from_ordinal / ${GROUP_DEVICES}::integer from moved
    )
    select p.notification_id as "notificationId", p.group_number as "groupNumber", p.category,
      p.taken, p.returned, p.withheld, a.age_ms as "ageMs",
      (
        select json_agg(json_build_array(
          from_ordinal % ${GROUP_DEVICES}::integer, to_ordinal % ${GROUP_DEVICES}::integer
        ))
        from moved where from_ordinal / ${GROUP_DEVICES}::integer = p.group_number
      ) as moved
    from groups g
    join cap_places p on p.app_id = ${appId} and p.platform_id = ${platformId}
      and p.group_number = g.group_number
    cross join lateral (
      select extract(epoch from clock_timestamp() - p.last_at)::float8 * 1000 as gone_ms
    ) t
    cross join lateral (
      select case
        when gone_ms < ${minAgeMs}::float8 then 0
        when ${maySend(sql)} then 0
        else gone_ms
      end as age_ms
    ) a
    where p.notification_id = ${notificationId}::uuid or a.age_ms < ${maxAgeMs}::float8
    order by p.notification_id`;
  return rows.map((row) => ({
    notificationId: row.notificationId,
    category: row.category,
    ageMs: row.ageMs,
    ...setsOf(row, groupNumber),
  }));
}

/** Whether the job of places `p` may still send in their group. Parked parts do not. */
const maySend = (sql: Sql) => sql`
  exists (
    select from chunks c
    where c.notification_id = p.notification_id and c.app_id = p.app_id
      and c.platform_id = p.platform_id and c.group_number = p.group_number
      and c.parked_at is null
  )
  or exists (
    select from retries r
    where r.notification_id = p.notification_id and r.app_id = p.app_id
      and r.platform_id = p.platform_id and r.parked_at is null
      and r.ordinal between p.group_number * ${GROUP_DEVICES}::integer
        and p.group_number * ${GROUP_DEVICES}::integer + ${GROUP_DEVICES - 1}::integer
  )`;

function setsOf(row: Row, groupNumber: number): Pick<Places, 'held' | 'taken' | 'withheld'> {
  const taken = devicesIn(row, row.taken, groupNumber);
  const returned = devicesIn(row, row.returned, groupNumber);
  const held = taken.map((octet, at) => octet & ~(returned[at] ?? 0));
  return {
    held,
    // A device that moved here has no place after its old group took it back.
    taken: row.groupNumber === groupNumber ? taken : held,
    withheld: devicesIn(row, row.withheld, groupNumber),
  };
}

/** An ordinal is given to one device only: bits of devices that have left mean no device. */
function devicesIn({ groupNumber, moved }: Row, words: Uint8Array | null, here: number) {
  const devices = noDevices();
  if (words === null) return devices;
  const there = groupNumber === here ? devices : noDevices();
  addWords(there, words);
  for (const [from, to] of moved ?? []) if (hasDevice(there, from)) addDevice(devices, to);
  return devices;
}

/** The devices with as many as a limit allows. `others`: places of other jobs. Null: none. */
function fullBy(
  { max, perMs, of }: CapLimit,
  category: string,
  others: readonly Places[],
): Uint8Array | null {
  const counted = others.filter(
    (one) => one.ageMs < perMs && (of === 'all' || one.category === category),
  );
  if (counted.length < max) return null;
  const planes = new DevicePlanes();
  for (const { held } of counted) planes.add(held);
  return planes.atLeast(max);
}

/** The devices that one limit at least leaves out. */
export function fullDevices({ category, limits }: CapTerms, others: readonly Places[]): Uint8Array {
  const full = noDevices();
  for (const limit of limits) {
    const more = fullBy(limit, category, others);
    for (const [at, octet] of (more ?? []).entries()) full[at] = (full[at] ?? 0) | octet;
  }
  return full;
}

/** How old places may be to count, and below which age it does not matter. */
export const agesOf = ({ limits }: CapTerms): Pick<Wanted, 'maxAgeMs' | 'minAgeMs'> => ({
  maxAgeMs: Math.max(0, ...limits.map(({ perMs }) => perMs)),
  minAgeMs: limits.length === 0 ? 0 : Math.min(...limits.map(({ perMs }) => perMs)),
});
