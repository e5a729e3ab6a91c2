/** The devices of an audience without a value of an attribute: each test of it is false there. */

import type { Sql } from '../database/sql.ts';
import type { AskedAudience } from '../domain/asked-audience.ts';
import { withFacets } from '../domain/asked-audience.ts';
import type { Audience } from '../domain/notification.ts';
import { readFacets } from './sql/read-facets.ts';

/** Those that its tags address, whatever its tests say, and that have no value. */
export async function withoutValue(
  sql: Sql,
  clientId: number,
  asked: AskedAudience,
  attributeId: number,
): Promise<Audience> {
  const facets = await readFacets(sql, clientId, {
    whole: [attributeId],
    attributeIds: [],
    values: [],
  });
  const addressed = withFacets(asked, ({ isExcluded = false }) => !isExcluded);
  const facetIds = facets.map(({ id }) => id);
  if (facetIds.length === 0) return addressed;
  const lacking = facetIds.map((id) => -id);
  const { condition } = addressed;
  const and = condition === null || condition === undefined ? lacking : [condition, ...lacking];
  return { ...addressed, condition: { and }, facetIds };
}
