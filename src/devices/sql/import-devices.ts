/** Writes imported devices. Newer data, which apps have registered here since, stays. */

import { DEVICE_PLACE } from '../../database/columns.ts';
import type { Columns } from '../../database/rows.ts';
import { float8, integers, octets, rowsOf } from '../../database/rows.ts';
import type { Sql } from '../../database/sql.ts';
import type { WithAttributes } from '../../domain/device-attributes.ts';
import type { NumberEntry } from '../../domain/device-numbers.ts';
import { entriesOf } from '../../domain/device-numbers.ts';
import { ATTRIBUTE_COLUMNS, keepingLater, knowsMore } from './attribute-columns.ts';
import type { DeviceKey } from './find-devices.ts';
import { WANTED_DEVICE } from './find-devices.ts';
import { readTagIds } from './tag-ids.ts';

interface WantedImported extends DeviceKey {
  readonly sinceMs: number;
  readonly registeredAtMs: number;
}

/** A device that the database knows already; `index` is its place among those asked for. */
export interface KnownImported {
  readonly index: number;
  readonly ordinal: number;
  /** Sorted. */
  readonly tagIds: readonly number[];
  /** Sorted. */
  readonly facetIds: readonly number[];
  /** Sorted. */
  readonly numbers: readonly NumberEntry[];
  /** The file's registration of it is the later one. */
  readonly isOlder: boolean;
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
  const rows = await tx<LockedRow[]>`
    select wanted.index, d.ordinal, d.tag_ids::text as "tagIds", d.facet_ids::text as "facetIds",
      coalesce(encode(d.numbers, 'hex'), '') as numbers,
      d.registered_at < to_timestamp(wanted.registered_at_ms / 1000) as "isOlder",
      d.registered_at > to_timestamp(wanted.since_ms / 1000) as "hasRegistered",
      coalesce(d.unsubscribed_at > to_timestamp(wanted.since_ms / 1000), false) as "hasUnsubscribed"
    from devices d
    join ${wanted(tx, devices)}
      on d.app_id = wanted.app_id and d.platform_id = wanted.platform_id and d.device_key = wanted.device_key
    order by d.app_id, d.platform_id, d.device_key
    for no key update of d`;
  return rows.map((row) => ({
    ...row,
    tagIds: readTagIds(row.tagIds),
    facetIds: row.facetIds === null ? NONE : readTagIds(row.facetIds),
    numbers: entriesOf(row.numbers),
  }));
}

type LockedRow = Omit<KnownImported, 'tagIds' | 'facetIds' | 'numbers'> & {
  readonly tagIds: string;
  readonly facetIds: string | null;
  readonly numbers: string;
};

const NONE: readonly number[] = [];

const wanted = rowsOf<WantedImported>('wanted', {
  ...WANTED_DEVICE,
  since_ms: float8(({ sinceMs }) => sinceMs),
  registered_at_ms: float8(({ registeredAtMs }) => registeredAtMs),
});

interface ImportedDevice extends DeviceKey, WithAttributes {
  readonly ordinal: number;
  readonly registeredAtMs: number;
  /** Sorted. */
  readonly tagIds: readonly number[];
  /** Sorted; null: they stay. */
  readonly facetIds: readonly number[] | null;
  /** The same. */
  readonly numbers: readonly NumberEntry[] | null;
}

const GIVEN: Columns<ImportedDevice> = {
  ...DEVICE_PLACE,
  ...ATTRIBUTE_COLUMNS,
  registered_at_ms: float8(({ registeredAtMs }) => registeredAtMs),
  tag_ids: integers(({ tagIds }) => tagIds),
};

const given = rowsOf<ImportedDevice>('given', GIVEN);

const givenWithValues = rowsOf<ImportedDevice>('given', {
  ...GIVEN,
  facet_ids: integers(({ facetIds }) => facetIds),
  numbers: octets(({ numbers }) => numbers?.join('') ?? null),
});

/** The later registration wins. A row that stays is not written: importing twice costs nothing. */
export async function updateImported(tx: Sql, devices: readonly ImportedDevice[]): Promise<void> {
  if (devices.length === 0) return;
  const hasValues = devices.some(({ facetIds, numbers }) => facetIds !== null || numbers !== null);
  const values = tx`,
      facet_ids = coalesce(seen.facet_ids, d.facet_ids),
      numbers = coalesce(seen.numbers, d.numbers)`;
  const isGiven = tx` or seen.facet_ids is not null or seen.numbers is not null`;
  await tx`
    update devices d set
      registered_at = greatest(d.registered_at, seen.registered_at),
      ${keepingLater(tx)},
      tag_ids = seen.tag_ids${hasValues ? values : tx``}
    from (
      select *, to_timestamp(registered_at_ms / 1000) as registered_at
      from ${hasValues ? givenWithValues(tx, devices) : given(tx, devices)}
    ) as seen
    where d.app_id = seen.app_id and d.platform_id = seen.platform_id and d.ordinal = seen.ordinal
      and (
        seen.registered_at > d.registered_at or ${knowsMore(tx)}
        or seen.tag_ids <> d.tag_ids${hasValues ? isGiven : tx``}
      )`;
}
