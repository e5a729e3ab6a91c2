/** Finds devices by their keys, with what a change starts from, and locks them for a change. */

import { SCOPE } from '../../database/columns.ts';
import type { Columns } from '../../database/rows.ts';
import { integer, rowsOf, uuid } from '../../database/rows.ts';
import type { Fragment, Sql } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';
import type { DeviceAttributes, WithAttributes } from '../../domain/device-attributes.ts';
import type { DeviceHistory } from '../../domain/device-group-change.ts';
import type { NumberEntry } from '../../domain/device-numbers.ts';
import { entriesOf } from '../../domain/device-numbers.ts';
import { attributesOf, selectedAttributes } from './attribute-columns.ts';
import { readTagIds } from './tag-ids.ts';

export interface DeviceKey extends Scope {
  readonly deviceKey: string;
}

export const DEVICE_KEY: Columns<DeviceKey> = {
  ...SCOPE,
  device_key: uuid(({ deviceKey }) => deviceKey),
};

/** With its place among those asked for. */
export const WANTED_DEVICE: Columns<DeviceKey> = {
  ...DEVICE_KEY,
  index: integer((_, index) => index),
};

export const wantedDevices = rowsOf<DeviceKey>('wanted', WANTED_DEVICE);

/** A device that exists, as it is. */
export interface KnownDevice extends DeviceHistory, WithAttributes {
  /** Its place among the devices asked for. */
  readonly index: number;
  readonly ordinal: number;
  /** Another one after each change of its row: the transaction that wrote it (xmin). */
  readonly version: string;
  /** Sorted. */
  readonly tagIds: readonly number[];
  /** Sorted. Empty, too, where they were not asked for. */
  readonly facetIds: readonly number[];
  /** Sorted. Empty, too, where they were not asked for. */
  readonly numbers: readonly NumberEntry[];
  /** Its registration was written so recently that a repetition of it need not be written. */
  readonly isFresh: boolean;
}

export interface Found {
  readonly devices: readonly KnownDevice[];
  /** How many, from the first on, at least 1: the next has too many tags to be read with these. */
  readonly lookedFor: number;
}

/**
 * Some tens of milliseconds of this thread, and 2 MB; a single device may have more.
 * @limit tags of devices that a batch looks at → the others are looked at next
 */
const TAGS_MAX = 100_000;

/** Reads more of a device: the statement of most registrations does not know it. */
interface AskedValues {
  readonly facets: boolean;
  readonly numbers: boolean;
}

export const NO_VALUES: AskedValues = { facets: false, numbers: false };
export const ALL_VALUES: AskedValues = { facets: true, numbers: true };

/** Takes no locks: each device may have changed by the time of the answer. */
export async function findDevices(
  sql: Sql,
  devices: readonly DeviceKey[],
  freshMs: number,
  asked: AskedValues,
): Promise<Found> {
  const tagIds = sql`
    case when row_number() over sofar = 1 or sum(cardinality(d.tag_ids)) over sofar <= ${TAGS_MAX}::integer
      then d.tag_ids::text end`;
  const rows = await select(
    sql,
    devices,
    freshMs,
    idsOf(sql, tagIds, asked),
    sql`window sofar as (order by wanted.index)`,
  );
  const beyond = Math.min(
    devices.length,
    ...rows.flatMap((row) => (row.tagIds === null ? row.index : [])),
  );
  return { devices: rows.filter(({ index }) => index < beyond).map(known), lookedFor: beyond };
}

/**
 * Locks in the order of keys, against deadlocks. Only the next statements see commits during the
 * wait (READ COMMITTED): so no change in this statement, and no read of tags before it.
 */
export const lockDevices = async (
  tx: Sql,
  devices: readonly DeviceKey[],
  freshMs: number,
  asked: AskedValues,
): Promise<Found> => {
  const ending = tx`order by d.app_id, d.platform_id, d.device_key for no key update of d`;
  const ids = idsOf(tx, tx`d.tag_ids::text`, asked);
  const rows = await select(tx, devices, freshMs, ids, ending);
  return { devices: rows.map(known), lookedFor: devices.length };
};

const idsOf = (sql: Sql, tagIds: Fragment, { facets, numbers }: AskedValues): Fragment => {
  const ids = facets
    ? sql`${tagIds} as "tagIds", d.facet_ids::text as "facetIds"`
    : sql`${tagIds} as "tagIds"`;
  return numbers ? sql`${ids}, encode(d.numbers, 'hex') as numbers` : ids;
};

type Row = Omit<KnownDevice, 'tagIds' | 'facetIds' | 'numbers' | 'attributes'> &
  DeviceAttributes & {
    readonly tagIds: string | null;
    readonly facetIds?: string | null;
    readonly numbers?: string | null;
  };

const NO_FACETS: readonly number[] = [];
const NO_NUMBERS: readonly NumberEntry[] = [];

/** Fields by their names: a spread for each device costs more than the rest (decision 63). */
const known = (row: Row): KnownDevice => ({
  index: row.index,
  ordinal: row.ordinal,
  version: row.version,
  refusals: row.refusals,
  environment: row.environment,
  attributes: attributesOf(row),
  isFresh: row.isFresh,
  tagIds: readTagIds(row.tagIds ?? '{}'),
  facetIds: typeof row.facetIds === 'string' ? readTagIds(row.facetIds) : NO_FACETS,
  numbers: typeof row.numbers === 'string' ? entriesOf(row.numbers) : NO_NUMBERS,
});

/** Sent at once: a dedicated connection sends statements in the order of the calls. */
const select = (
  sql: Sql,
  devices: readonly DeviceKey[],
  freshMs: number,
  ids: Fragment,
  ending: Fragment,
) =>
  sql<Row[]>`
  select wanted.index, d.ordinal, d.xmin as version, d.refusals, d.apns_environment as environment, ${selectedAttributes(sql)},
    ${ids},
    d.registered_at > greatest(now() - ${freshMs}::float8 * interval '1 millisecond', p.repetitions_written_from) as "isFresh"
  from devices d
  -- Left: of an app that was deleted a moment ago, whose devices are still being erased.
  left join app_platforms p on p.app_id = d.app_id and p.platform_id = d.platform_id
  join ${wantedDevices(sql, devices)}
    on d.app_id = wanted.app_id and d.platform_id = wanted.platform_id and d.device_key = wanted.device_key
  ${ending}`.execute();
