/** Attributes of a tenant, and what devices have of them, for tests. */

import type { Sql } from '../../src/database/sql.ts';
import { attributeOfEntry, entriesOf, shownNumber } from '../../src/domain/device-numbers.ts';

interface AttributeToMake {
  readonly name: string;
  readonly type: string;
  readonly setBy?: string;
  readonly appIds?: readonly number[];
  readonly isPersonal?: boolean;
}

/** Declares an attribute as the Admin API's statement leaves it. */
export async function declareAttribute(
  sql: Sql,
  clientId: number,
  { name, type, setBy = 'both', appIds, isPersonal = false }: AttributeToMake,
): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into attributes (client_id, name, type, set_by, app_ids, is_personal)
    values (${clientId}, ${name}, ${type}, ${setBy}, ${appIds === undefined ? null : [...appIds]}::int[], ${isPersonal})
    returning id`;
  return row?.id ?? 0;
}

/**
 * The values of a device by the ids of their attributes, read by its row and the dictionary; of its
 * numbers the decimal digits, of times their minutes since 1970.
 */
export async function valuesOf(
  sql: Sql,
  deviceId: string,
): Promise<Readonly<Record<string, string>>> {
  const rows = await sql<{ attributeId: number; value: string }[]>`
    select v.attribute_id as "attributeId", v.value
    from devices d cross join lateral unnest(d.facet_ids) as f (id)
    join attribute_values v on v.id = f.id
    where d.device_id = ${deviceId} order by 1`;
  const [device] = await sql<{ digits: string }[]>`
    select coalesce(encode(numbers, 'hex'), '') as digits from devices where device_id = ${deviceId}`;
  const numbers = entriesOf(device?.digits ?? '').map((entry) => [
    attributeOfEntry(entry),
    String(shownNumber('integer', entry)),
  ]);
  const facets = rows.map(({ attributeId, value }) => [attributeId, value]);
  return Object.fromEntries([...facets, ...numbers]);
}
