/** The one statement that makes devices: of registrations, and of an operator's import. */

import { DEVICE_PLACE } from '../../database/columns.ts';
import type { Columns } from '../../database/rows.ts';
import { boolean, float8, integers, octets, rowsOf, text } from '../../database/rows.ts';
import type { Sql } from '../../database/sql.ts';
import type { WithAttributes } from '../../domain/device-attributes.ts';
import type { NumberEntry } from '../../domain/device-numbers.ts';
import { ATTRIBUTE_COLUMNS, attributeColumns } from './attribute-columns.ts';
import type { DeviceKey } from './find-devices.ts';
import { DEVICE_KEY } from './find-devices.ts';

/** Did not exist when its writer looked; another transaction may have made it since. */
export interface NewDevice extends DeviceKey, WithAttributes {
  readonly ordinal: number;
  readonly deviceId: string;
  /** Null: now. 0: not known, of an import. */
  readonly registeredAtMs: number | null;
  readonly unsubscribes: boolean;
  /** Sorted. */
  readonly tagIds: readonly number[];
  /** Sorted. null, or absent: none. */
  readonly facetIds?: readonly number[] | null;
  /** Sorted. null, or absent: none. */
  readonly numbers?: readonly NumberEntry[] | null;
}

/**
 * The day of its first registration is not known of an import: a file has that of the last one.
 * Locks in the order of keys. Without `on conflict do nothing`, which would look each device up in
 * the index once more, and write its row twice.
 */
export const insertDevices = (tx: Sql, devices: readonly NewDevice[]) => {
  const withFacets = devices.some(({ facetIds }) => hasSome(facetIds));
  const withNumbers = devices.some(({ numbers }) => hasSome(numbers));
  const facets = withFacets || withNumbers ? tx`, facet_ids` : tx``;
  const values = withNumbers ? tx`${facets}, numbers` : facets;
  const others = withNumbers ? freshWithNumbers : freshWithFacets;
  return tx`
  insert into devices
    (app_id, platform_id, ordinal, device_key, device_id, ${attributeColumns(tx)}, registered_at, registered_on, unsubscribed_at, tag_ids${values})
  select app_id, platform_id, ordinal, device_key, device_id, ${attributeColumns(tx)},
    coalesce(to_timestamp(registered_at_ms / 1000), now()),
    case when registered_at_ms is null then (now() at time zone 'UTC')::date end,
    case when unsubscribes then now() end, tag_ids${values}
  from ${withFacets || withNumbers ? others(tx, devices) : fresh(tx, devices)}
  order by app_id, platform_id, device_key`;
};

const hasSome = <T>(values: readonly T[] | null | undefined): values is readonly T[] =>
  values !== undefined && values !== null && values.length > 0;

const FRESH: Columns<NewDevice> = {
  ...DEVICE_PLACE,
  ...DEVICE_KEY,
  device_id: text(({ deviceId }) => deviceId),
  ...ATTRIBUTE_COLUMNS,
  registered_at_ms: float8(({ registeredAtMs }) => registeredAtMs),
  unsubscribes: boolean(({ unsubscribes }) => unsubscribes),
  tag_ids: integers(({ tagIds }) => tagIds),
};

const fresh = rowsOf<NewDevice>('fresh', FRESH);

const WITH_FACETS: Columns<NewDevice> = {
  ...FRESH,
  facet_ids: integers(({ facetIds }) => (hasSome(facetIds) ? facetIds : null)),
};

const freshWithFacets = rowsOf<NewDevice>('fresh', WITH_FACETS);

const freshWithNumbers = rowsOf<NewDevice>('fresh', {
  ...WITH_FACETS,
  numbers: octets(({ numbers }) => (hasSome(numbers) ? numbers.join('') : null)),
});
