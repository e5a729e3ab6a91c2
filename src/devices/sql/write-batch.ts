/** Writes a batch of registrations in one statement: devices, tag days, groups and their tags. */

import { DEVICE_PLACE } from '../../database/columns.ts';
import type { Columns } from '../../database/rows.ts';
import { boolean, integers, octets, rowsOf, xid } from '../../database/rows.ts';
import type { Sql } from '../../database/sql.ts';
import type { WithAttributes } from '../../domain/device-attributes.ts';
import type { DevicePlace } from '../../domain/device-group-change.ts';
import type { NumberEntry } from '../../domain/device-numbers.ts';
import type {
  RaisedWithEpoch,
  TagChange,
  TouchedDeviceGroup,
} from '../../statistics/record-changes.ts';
import { countsOf, RAISED, recording } from '../../statistics/record-changes.ts';
import { ATTRIBUTE_COLUMNS, keepingKnown } from './attribute-columns.ts';
import { ChangedSince } from './changed-since.ts';
import type { NewDevice } from './insert-devices.ts';
import { insertDevices } from './insert-devices.ts';

interface DeviceUpdate extends DevicePlace, WithAttributes {
  /** The version of its row from which the change was worked out. */
  readonly version: string;
  readonly registers: boolean;
  readonly unsubscribes: boolean;
  /** Sorted; null: they stay. */
  readonly tagIds: readonly number[] | null;
  /** Sorted; null, or absent: they stay. */
  readonly facetIds?: readonly number[] | null;
  /** Sorted; null, or absent: they stay. */
  readonly numbers?: readonly NumberEntry[] | null;
}

export interface Batch {
  /** In the order of keys, unless the transaction has locked them. */
  readonly updated: readonly DeviceUpdate[];
  readonly inserted: readonly NewDevice[];
  /** The tags that these devices gain and lose. */
  readonly changes: readonly TagChange[];
  /** Groups with changes that an index holds. */
  readonly groups: readonly TouchedDeviceGroup[];
  /** Slot of tag_days that is written. */
  readonly slot: number;
}

/**
 * Answers the groups with their new versions. Fails (`wasChangedSince`) when another transaction
 * made one of `inserted` or changed one of `updated` since.
 *
 * Locks in the order of all writers: devices (known, then new), tag days, groups, each sorted. With
 * PLANS_ARE_KEPT, `updated` is joined row by row: locked in the order given.
 *
 * Empty parts are left out: preparing each is most of the cost of a small batch.
 */
export async function writeBatch(tx: Sql, batch: Batch): Promise<readonly RaisedWithEpoch[]> {
  const { updated, inserted, changes, groups, slot } = batch;
  const nothing = tx``;
  const ifUnchanged = updated.length > 0 ? tx`where ${areUnchanged(tx, updated.length)}` : nothing;
  // Always true: devices are inserted before the days' rows are locked.
  const after = inserted.length > 0 ? tx`where (select count(*) from inserted) >= 0` : nothing;
  try {
    return await tx<RaisedWithEpoch[]>`
      with ${updated.length > 0 ? updateDevices(tx, updated) : nothing}
      ${inserted.length > 0 ? inserting(tx, inserted) : nothing}
      ${recording(tx, countsOf(changes), groups, slot, after)}
      ${RAISED(tx)}
      ${ifUnchanged}`;
  } catch (error) {
    throw isChanged(error) ? new ChangedSince() : error;
  }
}

/** In PostgreSQL's log, where the number is that it cannot read. */
const CHANGED = 'devices have changed since they were read; their batch is tried again';

/**
 * True, or the statement fails: the COMMIT after it is sent already. It names no row, so it is
 * asked first, and the known devices are locked first.
 */
const areUnchanged = (tx: Sql, updates: number) => tx`
  (case (select count(*) from updated) when ${updates}::integer then '1' else ${CHANGED} end)::integer = 1`;

const isChanged = (error: unknown): boolean =>
  error instanceof Error && error.message.includes(CHANGED);

function updateDevices(tx: Sql, updated: readonly DeviceUpdate[]) {
  const withFacets = updated.some(({ facetIds = null }) => facetIds !== null);
  const withNumbers = updated.some(({ numbers = null }) => numbers !== null);
  const facets = tx`,
        facet_ids = coalesce(seen.facet_ids, d.facet_ids)`;
  const numbers = tx`${facets},
        numbers = nullif(coalesce(seen.numbers, d.numbers), '')`;
  const otherValues = withNumbers ? numbers : facets;
  const others = withNumbers ? seenWithNumbers : seenWithFacets;
  const hasOthers = withFacets || withNumbers;
  return tx`
    updated as (
      update devices d set
        registered_at = case when seen.registers then now() else d.registered_at end,
        -- A token that its app still has is no stranger.
        refusals = case when seen.registers then 0 else d.refusals end,
        refused_at = case when seen.registers then null else d.refused_at end,
        unsubscribed_at = case when seen.unsubscribes then now() else d.unsubscribed_at end,
        ${keepingKnown(tx)},
        tag_ids = coalesce(seen.tag_ids, d.tag_ids)${hasOthers ? otherValues : tx``}
      from ${hasOthers ? others(tx, updated) : seen(tx, updated)}
      where d.app_id = seen.app_id and d.platform_id = seen.platform_id and d.ordinal = seen.ordinal
        and d.xmin = seen.version
      returning d.ordinal
    ),`;
}

const SEEN: Columns<DeviceUpdate> = {
  ...DEVICE_PLACE,
  version: xid(({ version }) => version),
  registers: boolean(({ registers }) => registers),
  unsubscribes: boolean(({ unsubscribes }) => unsubscribes),
  ...ATTRIBUTE_COLUMNS,
  tag_ids: integers(({ tagIds }) => tagIds),
};

const seen = rowsOf<DeviceUpdate>('seen', SEEN);

const WITH_FACETS: Columns<DeviceUpdate> = {
  ...SEEN,
  facet_ids: integers(({ facetIds = null }) => facetIds),
};

const seenWithFacets = rowsOf<DeviceUpdate>('seen', WITH_FACETS);

const seenWithNumbers = rowsOf<DeviceUpdate>('seen', {
  ...WITH_FACETS,
  numbers: octets(({ numbers = null }) => numbers?.join('') ?? null),
});

const inserting = (tx: Sql, inserted: readonly NewDevice[]) => tx`
    inserted as (${insertDevices(tx, inserted)} returning ordinal),`;
