/** Reads which attribute each facet is a value of. It never changes; a value may be gone. */

import type { Sql } from '../database/sql.ts';
import { list } from '../database/sql.ts';
import type { FacetId } from '../domain/attributes.ts';

export async function attributesOfFacets(
  sql: Sql,
  facetIds: readonly FacetId[],
): Promise<ReadonlyMap<FacetId, number>> {
  if (facetIds.length === 0) return new Map();
  const rows = await sql<{ id: FacetId; attributeId: number }[]>`
    select id, attribute_id as "attributeId" from attribute_values
    where id = any (${list(facetIds)}::integer[])`;
  return new Map(rows.map(({ id, attributeId }) => [id, attributeId]));
}
