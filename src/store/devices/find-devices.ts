/**
 * Finds devices by their keys, with the row that a change of them starts from; locks them, where it
 * is to be changed.
 */

import type { PlatformOfApp } from '../../domain/device.ts';
import type { DeviceNote } from '../../domain/group-change.ts';
import type { Fragment, Sql } from '../sql.ts';
import { list } from '../sql.ts';
import { readTagIds } from './tag-ids.ts';

export interface DeviceKey extends PlatformOfApp {
  /** deviceKeyOf(deviceId) */
  readonly deviceKey: string;
}

/** A device that exists, as it is. */
export interface KnownDevice extends DeviceNote {
  /** Its place among those asked for. */
  readonly index: number;
  readonly ordinal: number;
  /** Sorted. */
  readonly tagIds: readonly number[];
  readonly appVersion: string | null;
  /** Its registration was written so lately that a repetition of it need not be. */
  readonly isFresh: boolean;
}

export interface Found {
  readonly devices: readonly KnownDevice[];
  /**
   * So many of those asked for were looked for, the first at least: the next one has too many tags
   * to be read with them.
   */
  readonly lookedFor: number;
}

/**
 * Tags read at once: some tens of milliseconds of ours, and 2 MB. A single device may have more.
 */
const TAGS_MAX = 100_000;

/** Without locks: each may have changed when the answer is there. */
export async function findDevices(
  sql: Sql,
  devices: readonly DeviceKey[],
  freshMs: number,
): Promise<Found> {
  const tagIds = sql`
    case when row_number() over sofar = 1 or sum(cardinality(d.tag_ids)) over sofar <= ${TAGS_MAX}::int
      then d.tag_ids::text end`;
  const rows = await select(
    sql,
    devices,
    freshMs,
    tagIds,
    sql`window sofar as (order by wanted.place)`,
  );
  const beyond = Math.min(
    devices.length,
    ...rows.flatMap((row) => (row.tagIds === null ? row.index : [])),
  );
  return { devices: rows.filter(({ index }) => index < beyond).map(known), lookedFor: beyond };
}

/**
 * Locks them in the order of keys, so that two nodes wait for each other and do not deadlock. What
 * others commit while this waits is seen by the statements that follow, not by this one (READ
 * COMMITTED): hence no change in the same statement, and no look at tags before it.
 */
export const lockDevices = async (
  tx: Sql,
  devices: readonly DeviceKey[],
  freshMs: number,
): Promise<Found> => {
  const ending = tx`order by d.app_id, d.platform_id, d.device_key for no key update of d`;
  const rows = await select(tx, devices, freshMs, tx`d.tag_ids::text`, ending);
  return { devices: rows.map(known), lookedFor: devices.length };
};

type Row = Omit<KnownDevice, 'tagIds'> & { readonly tagIds: string | null };

const known = (row: Row): KnownDevice => ({ ...row, tagIds: readTagIds(row.tagIds ?? '{}') });

/** Issued at once: a line sends it in the order of the calls. */
const select = (
  sql: Sql,
  devices: readonly DeviceKey[],
  freshMs: number,
  tagIds: Fragment,
  ending: Fragment,
) =>
  sql<Row[]>`
  select (wanted.place - 1)::int as index, d.ordinal, d.refusals, d.apns_environment as environment, d.app_version as "appVersion",
    ${tagIds} as "tagIds",
    d.registered_at > greatest(now() - ${freshMs}::float8 * interval '1 millisecond', p.repetitions_written_from) as "isFresh"
  from devices d
  join app_platforms p on p.app_id = d.app_id and p.platform_id = d.platform_id
  join unnest(
    ${list(devices.map((device) => device.appId))}::int[],
    ${list(devices.map((device) => device.platformId))}::int[],
    ${list(devices.map((device) => device.deviceKey))}::uuid[]
  ) with ordinality as wanted (app_id, platform_id, device_key, place)
    on d.app_id = wanted.app_id and d.platform_id = wanted.platform_id and d.device_key = wanted.device_key
  ${ending}`.execute();
