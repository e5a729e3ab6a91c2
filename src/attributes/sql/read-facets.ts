/** Reads values of attributes from the dictionary of a client, with their facets. */

import type { Sql } from '../../database/sql.ts';
import { list, textList } from '../../database/sql.ts';

export interface Facet {
  readonly attributeId: number;
  readonly id: number;
  readonly value: string;
}

interface FacetsToRead {
  /** Attributes of which all values are read. */
  readonly whole: readonly number[];
  /** Single values: parallel. Absent: none. */
  readonly attributeIds?: readonly number[];
  readonly values?: readonly string[];
}

/** Leaves out attributes that were deleted, whatever devices still hold. */
export async function readFacets(
  sql: Sql,
  clientId: number,
  { whole, attributeIds = [], values = [] }: FacetsToRead,
): Promise<readonly Facet[]> {
  // One value of JSON: there may be ten thousand.
  const [row] = await sql<{ facets: readonly (readonly [number, number, string])[] }[]>`
    select coalesce(json_agg(json_build_array(attribute_id, id, value)), '[]') as facets from (
      select attribute_id, id, value from attribute_values
      where client_id = ${clientId} and attribute_id = any(${list(whole)}::integer[])
      union
      select v.attribute_id, v.id, v.value
      from unnest(${list(attributeIds)}::integer[], ${textList(values)}::text[]) as a (attribute_id, value)
      cross join lateral (
        select attribute_id, id, value from attribute_values
        where client_id = ${clientId} and attribute_id = a.attribute_id and value = a.value
      ) v
    ) found
    where attribute_id < 0 or exists (select from attributes where attributes.id = found.attribute_id)`;
  return (row?.facets ?? []).map(([attributeId, id, value]) => ({ attributeId, id, value }));
}
