/** The dictionary: finds the facets of values, and makes those that there are not yet. */

import { lockClient } from '../../clients/lock-client.ts';
import { nextObjectIds } from '../../database/object-ids.ts';
import { integer, rowsOf, text } from '../../database/rows.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { FacetId } from '../../domain/attributes.ts';

export interface AttributeValue {
  readonly clientId: number;
  readonly attributeId: number;
  /** In the form in which it is kept. */
  readonly value: string;
}

const wanted = rowsOf<AttributeValue>('wanted', {
  index: integer((_, index) => index),
  client_id: integer(({ clientId }) => clientId),
  attribute_id: integer(({ attributeId }) => attributeId),
  value: text(({ value }) => value),
});

export interface FoundValue {
  /** Its place among those asked for. */
  readonly index: number;
  readonly id: FacetId;
  /** Its time is a day old, or it is about to go: `touchValues` before it is given to a device. */
  readonly isOld: boolean;
}

export const findValues = (sql: Sql, values: readonly AttributeValue[]) => sql<FoundValue[]>`
  select wanted.index, v.id,
    v.retired_at is not null or v.last_set_at < now() - interval '1 day' as "isOld"
  from ${wanted(sql, values)}
  join attribute_values v
    on v.client_id = wanted.client_id and v.attribute_id = wanted.attribute_id and v.value = wanted.value`;

/**
 * Notes that they are set. Answers those that stay: housekeeping may delete one, and those of an
 * attribute that was deleted are to leave the devices.
 */
export const touchValues = (
  sql: SqlPool,
  facetIds: readonly FacetId[],
): Promise<ReadonlySet<FacetId>> =>
  transact(sql, async (tx) => {
    // In the order of all who lock several of them.
    await waitBriefly(tx);
    await tx`
      select from attribute_values where id = any (${list(facetIds)}::integer[])
      order by id for no key update`;
    const touched = await tx<{ id: FacetId }[]>`
      update attribute_values v set last_set_at = now(), retired_at = null
      where id = any (${list(facetIds)}::integer[])
        and (attribute_id < 0 or exists (select from attributes a where a.id = v.attribute_id))
      returning id`;
    return new Set(touched.map(({ id }) => id));
  });

/**
 * A registration waits for it, and does without the value.
 * @limit a new or an old value of an attribute waits for a lock → not set, for now
 */
const LOCK_MS_MAX = 500;

const waitBriefly = (tx: Sql) =>
  tx`select set_config('lock_timeout', ${String(LOCK_MS_MAX)}, true)`;

interface ValueToMake {
  readonly attributeId: number;
  readonly value: string;
  /** How many values the attribute may have. */
  readonly valuesMax: number;
}

/**
 * Makes values of a client, each once. Null: there is no room for it, or its attribute was deleted.
 * Under the client's lock, which the deletion of an attribute takes too.
 */
export const makeValues = (
  sql: SqlPool,
  clientId: number,
  values: readonly ValueToMake[],
): Promise<readonly (FacetId | null)[]> =>
  transact(sql, async (tx) => {
    await waitBriefly(tx);
    await lockClient(tx, clientId);
    const room = await roomOf(tx, clientId, values);
    const welcome = values.map(({ attributeId }) => {
      const left = room.get(attributeId) ?? 0;
      room.set(attributeId, left - 1);
      return left > 0;
    });
    const made = values.filter((_, at) => welcome[at]);
    const ids = (await nextObjectIds(tx, clientId, made.length)) ?? [];
    const rows = ids.flatMap((id, at) => {
      const value = made[at];
      return value === undefined ? [] : [{ ...value, clientId, id }];
    });
    const inserted = rows.length === 0 ? [] : await insertValues(tx, rows);
    const facets = new Map(inserted.map((row) => [keyOf(row), row.id]));
    return values.map((value) => facets.get(keyOf(value)) ?? null);
  });

const keyOf = ({ attributeId, value }: Pick<AttributeValue, 'attributeId' | 'value'>): string =>
  `${attributeId}.${value}`;

/** How many values more each of the attributes may have. One that was deleted may have none. */
async function roomOf(
  tx: Sql,
  clientId: number,
  values: readonly ValueToMake[],
): Promise<Map<number, number>> {
  const valuesMax = new Map(values.map(({ attributeId, valuesMax }) => [attributeId, valuesMax]));
  const rows = await tx<{ attributeId: number; used: number }[]>`
    select a.id as "attributeId",
      (select count(*) from attribute_values v where v.client_id = ${clientId} and v.attribute_id = a.id) as used
    from unnest(${list([...valuesMax.keys()])}::integer[]) as a (id)
    where a.id < 0 or exists (select from attributes d where d.id = a.id and d.client_id = ${clientId})`;
  return new Map(
    rows.map(({ attributeId, used }) => [attributeId, (valuesMax.get(attributeId) ?? 0) - used]),
  );
}

interface NewValue extends AttributeValue {
  readonly id: FacetId;
}

const insertValues = (tx: Sql, values: readonly NewValue[]) => tx<
  Pick<NewValue, 'id' | 'attributeId' | 'value'>[]
>`
  insert into attribute_values (id, client_id, attribute_id, value)
  select id, client_id, attribute_id, value from ${fresh(tx, values)}
  -- Another node has made it since it was looked for.
  on conflict (client_id, attribute_id, value) do update set last_set_at = now(), retired_at = null
  returning id, attribute_id as "attributeId", value`;

const fresh = rowsOf<NewValue>('fresh', {
  id: integer(({ id }) => id),
  client_id: integer(({ clientId }) => clientId),
  attribute_id: integer(({ attributeId }) => attributeId),
  value: text(({ value }) => value),
});
