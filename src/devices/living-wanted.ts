/** Leaves out facets whose attribute was deleted after they were looked up. */

import { livingFacets } from '../attributes/living-facets.ts';
import type { Sql } from '../database/sql.ts';
import type { FacetId } from '../domain/attributes.ts';
import type { WantedFacets } from './facets.ts';
import { NO_FACETS } from './facets.ts';

/** Judges several devices; call it after their locks. Nothing is read where they say nothing. */
export async function livingWanted(
  tx: Sql,
  all: readonly WantedFacets[],
): Promise<readonly WantedFacets[]> {
  const given = new Set<FacetId>();
  for (const wanted of all) {
    for (const facetId of wanted.values()) if (facetId !== null) given.add(facetId);
  }
  if (given.size === 0) return all;
  const living = await livingFacets(tx, [...given]);
  if (living.size === given.size) return all;
  const isAlive = (facetId: FacetId | null): boolean => facetId === null || living.has(facetId);
  return all.map((wanted) =>
    wanted === NO_FACETS ? wanted : new Map([...wanted].filter(([, facetId]) => isAlive(facetId))),
  );
}
