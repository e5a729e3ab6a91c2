/** The devices of an audience without a value of an attribute: each test of it is false there. */

import type { Sql } from '../database/sql.ts';
import type { AskedAudience } from '../domain/asked-audience.ts';
import { withFacets } from '../domain/asked-audience.ts';
import type { DayAttribute } from '../domain/device-days.ts';
import type { Audience } from '../domain/notification.ts';
import { readFacets } from './sql/read-facets.ts';

/** Those that its tags address, whatever its tests say, and that have no value. */
export async function withoutValue(
  sql: Sql,
  clientId: number,
  asked: AskedAudience,
  subject: number | DayAttribute,
): Promise<Audience> {
  const addressed = withFacets(asked, ({ isExcluded = false }) => !isExcluded);
  const { condition } = addressed;
  const conditions = condition === null || condition === undefined ? [] : [condition];
  if (typeof subject !== 'number') {
    const and = [...conditions, { day: subject, isExcluded: true } as const];
    return { ...addressed, condition: { and }, asksDays: true };
  }
  const facets = await readFacets(sql, clientId, { whole: [subject] });
  const facetIds = facets.map(({ id }) => id);
  if (facetIds.length === 0) return addressed;
  return {
    ...addressed,
    condition: { and: [...conditions, ...facetIds.map((id) => -id)] },
    facetIds,
  };
}
