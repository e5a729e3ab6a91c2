/** The devices of an audience without a value of an attribute: each test of it is false there. */

import type { Sql } from '../database/sql.ts';
import type { AskedAudience } from '../domain/asked-audience.ts';
import { withFacets } from '../domain/asked-audience.ts';
import type { TestedType } from '../domain/attribute-test.ts';
import type { AudienceCondition } from '../domain/audience-condition.ts';
import type { DayAttribute } from '../domain/device-days.ts';
import { anyNumber, isNumberType } from '../domain/device-numbers.ts';
import type { Audience } from '../domain/notification.ts';
import type { RowTest } from '../domain/row-tests.ts';
import { readFacets } from './sql/read-facets.ts';

interface AttributeOfDevices {
  readonly subject: number | DayAttribute;
  readonly type: TestedType;
}

/** Those that its tags address, whatever its tests say, and that have no value. */
export async function withoutValue(
  sql: Sql,
  clientId: number,
  asked: AskedAudience,
  { subject, type }: AttributeOfDevices,
): Promise<Audience> {
  const addressed = withFacets(asked, ({ isExcluded = false }) => !isExcluded);
  const { condition } = addressed;
  const conditions = condition === null || condition === undefined ? [] : [condition];
  if (typeof subject !== 'number') return lacking(addressed, conditions, { day: subject });
  if (isNumberType(type)) return lacking(addressed, conditions, anyNumber(subject));
  const facets = await readFacets(sql, clientId, { whole: [subject] });
  const facetIds = facets.map(({ id }) => id);
  if (facetIds.length === 0) return addressed;
  return {
    ...addressed,
    condition: { and: [...conditions, ...facetIds.map((id) => -id)] },
    facetIds,
  };
}

const lacking = (
  addressed: Audience,
  conditions: readonly AudienceCondition[],
  any: RowTest,
): Audience => ({
  ...addressed,
  condition: { and: [...conditions, { ...any, isExcluded: true }] },
  asksRows: true,
});
