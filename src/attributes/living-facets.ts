/** Which facets are still values of an attribute that is there. */

import type { Sql } from '../database/sql.ts';
import { list } from '../database/sql.ts';
import type { FacetId } from '../domain/attributes.ts';

export async function livingFacets(
  sql: Sql,
  facetIds: readonly FacetId[],
): Promise<ReadonlySet<FacetId>> {
  const rows = await sql<{ id: FacetId }[]>`
    select id from attribute_values v
    where id = any (${list(facetIds)}::integer[])
      and (attribute_id < 0 or exists (select from attributes a where a.id = v.attribute_id))`;
  return new Set(rows.map(({ id }) => id));
}
