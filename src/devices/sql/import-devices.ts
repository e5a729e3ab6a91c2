/** Writes imported devices. Newer data, which apps have registered here since, stays. */

import { DEVICE_PLACE } from '../../database/columns.ts';
import { float8, integers, rowsOf } from '../../database/rows.ts';
import type { Sql } from '../../database/sql.ts';
import type { WithAttributes } from '../../domain/device-attributes.ts';
import { ATTRIBUTE_COLUMNS, keepingLater, knowsMore } from './attribute-columns.ts';
import type { DeviceKey } from './find-devices.ts';
import { WANTED_DEVICE } from './find-devices.ts';
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
 * Locks in the order of keys; reports whether the app registered or unsubscribed after `sinceMs`.
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

interface ImportedDevice extends DeviceKey, WithAttributes {
  readonly ordinal: number;
  readonly registeredAtMs: number;
  /** Sorted. */
  readonly tagIds: readonly number[];
}

const given = rowsOf<ImportedDevice>('given', {
  ...DEVICE_PLACE,
  ...ATTRIBUTE_COLUMNS,
  registered_at_ms: float8(({ registeredAtMs }) => registeredAtMs),
  tag_ids: integers(({ tagIds }) => tagIds),
});

/** The later registration wins. A row that stays is not written: importing twice costs nothing. */
export async function updateImported(tx: Sql, devices: readonly ImportedDevice[]): Promise<void> {
  if (devices.length === 0) return;
  await tx`
    update devices d set
      registered_at = greatest(d.registered_at, seen.registered_at),
      ${keepingLater(tx)},
      tag_ids = seen.tag_ids
    from (
      select *, to_timestamp(registered_at_ms / 1000) as registered_at
      from ${given(tx, devices)}
    ) as seen
    where d.app_id = seen.app_id and d.platform_id = seen.platform_id and d.ordinal = seen.ordinal
      and (
        seen.registered_at > d.registered_at or ${knowsMore(tx)}
        or seen.tag_ids <> d.tag_ids
      )`;
}
