/**
 * Writes the rows of devices that an operator imports. Newer data, which apps have registered here
 * since, stays.
 */

import { DEVICE_PLACE } from '../../database/columns.ts';
import type { Columns } from '../../database/rows.ts';
import { float8, integers, rowsOf, text } from '../../database/rows.ts';
import type { Sql } from '../../database/sql.ts';
import type { DeviceKey } from './find-devices.ts';
import { DEVICE_KEY, WANTED_DEVICE } from './find-devices.ts';
import { readTagIds } from './tag-ids.ts';

interface WantedImported extends DeviceKey {
  readonly sinceMs: number;
}

/** A device that the database knows already; `index` is its place among those asked for. */
export interface KnownImported {
  readonly index: number;
  readonly ordinal: number;
  /** Sorted. */
  readonly tagIds: readonly number[];
  readonly hasRegistered: boolean;
  readonly hasUnsubscribed: boolean;
}

/**
 * Locks devices in the order of keys, as registrations do, and tells whether their app has
 * registered or unsubscribed after `sinceMs`.
 */
export async function lockImported(
  tx: Sql,
  devices: readonly WantedImported[],
): Promise<readonly KnownImported[]> {
  const rows = await tx<(Omit<KnownImported, 'tagIds'> & { readonly tagIds: string })[]>`
    select wanted.index, d.ordinal, d.tag_ids::text as "tagIds",
      d.registered_at > to_timestamp(wanted.since_ms / 1000) as "hasRegistered",
      coalesce(d.unsubscribed_at > to_timestamp(wanted.since_ms / 1000), false) as "hasUnsubscribed"
    from devices d
    join ${wanted(tx, devices)}
      on d.app_id = wanted.app_id and d.platform_id = wanted.platform_id and d.device_key = wanted.device_key
    order by d.app_id, d.platform_id, d.device_key
    for no key update of d`;
  return rows.map((row) => ({ ...row, tagIds: readTagIds(row.tagIds) }));
}

const wanted = rowsOf<WantedImported>('wanted', {
  ...WANTED_DEVICE,
  since_ms: float8(({ sinceMs }) => sinceMs),
});

interface ImportedDevice extends DeviceKey {
  readonly ordinal: number;
  readonly appVersion: string | null;
  readonly registeredAtMs: number;
  /** Sorted. */
  readonly tagIds: readonly number[];
}

const IMPORTED: Columns<ImportedDevice> = {
  ...DEVICE_PLACE,
  app_version: text(({ appVersion }) => appVersion),
  registered_at_ms: float8(({ registeredAtMs }) => registeredAtMs),
  tag_ids: integers(({ tagIds }) => tagIds),
};

interface NewImported extends ImportedDevice {
  readonly deviceId: string;
}

const fresh = rowsOf<NewImported>('fresh', {
  ...IMPORTED,
  ...DEVICE_KEY,
  device_id: text(({ deviceId }) => deviceId),
});

const given = rowsOf<ImportedDevice>('given', IMPORTED);

/**
 * Fails (`wasChangedSince`) when another transaction has made one of the devices since the look-up.
 */
export async function insertImported(tx: Sql, devices: readonly NewImported[]): Promise<void> {
  if (devices.length === 0) return;
  await tx`
    insert into devices (app_id, platform_id, ordinal, device_key, device_id, app_version, registered_at, tag_ids)
    select app_id, platform_id, ordinal, device_key, device_id, app_version, to_timestamp(registered_at_ms / 1000), tag_ids
    from ${fresh(tx, devices)}
    order by app_id, platform_id, device_key`;
}

/**
 * The later registration wins. A row that would not change is not written: importing a file twice
 * costs nothing.
 */
export async function updateImported(tx: Sql, devices: readonly ImportedDevice[]): Promise<void> {
  if (devices.length === 0) return;
  await tx`
    update devices d set
      registered_at = greatest(d.registered_at, seen.registered_at),
      app_version = case
        when seen.registered_at > d.registered_at then coalesce(seen.app_version, d.app_version)
        else coalesce(d.app_version, seen.app_version)
      end,
      tag_ids = seen.tag_ids
    from (
      select *, to_timestamp(registered_at_ms / 1000) as registered_at
      from ${given(tx, devices)}
    ) as seen
    where d.app_id = seen.app_id and d.platform_id = seen.platform_id and d.ordinal = seen.ordinal
      and (
        seen.registered_at > d.registered_at or (d.app_version is null and seen.app_version is not null)
        or seen.tag_ids <> d.tag_ids
      )`;
}
