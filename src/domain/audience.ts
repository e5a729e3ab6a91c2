/** The tags of an audience: facts for every index, and the answer for one device. */

import type { AudienceCondition } from './audience-condition.ts';
import { isRowTest, literalsOf, mapLiterals, NO_TAG } from './audience-condition.ts';
import type { Audience } from './notification.ts';
import type { DeviceRow } from './row-tests.ts';
import { meetsRow } from './row-tests.ts';

export const concernedTagIds = ({
  anyTagIds,
  allTagIds,
  noneTagIds,
  condition,
}: Audience): number[] => [
  ...new Set([
    ...anyTagIds,
    ...allTagIds,
    ...noneTagIds,
    ...literalsOf(condition ?? { and: [] }).map(Math.abs),
  ]),
];

/** An audience without target tags has no device, whatever its other tags are. */
export const isNobody = ({
  anyTagIds,
  isToEverybody,
  isNamed,
}: Pick<Audience, 'anyTagIds' | 'isToEverybody' | 'isNamed'>): boolean =>
  anyTagIds.length === 0 && isToEverybody !== true && isNamed !== true;

/** The further condition on its devices; null: none. Every evaluation reads it here. */
export function conditionOf({
  anyTagIds,
  condition,
  facetIds = [],
}: Audience): AudienceCondition | null {
  if (condition === undefined || condition === null) return null;
  const current = new Set([...anyTagIds, ...facetIds]);
  return mapLiterals(condition, (literal) =>
    literal > 0 && !current.has(literal) ? NO_TAG : literal,
  );
}

/**
 * Whether a device with these tags, these values of attributes, and what else its row has, is in
 * the audience; the tag indexes answer that for many.
 */
export function isInAudience(
  audience: Audience,
  tagIds: readonly number[],
  facetIds: readonly number[] = [],
  row: DeviceRow | null = null,
): boolean {
  const { anyTagIds, allTagIds, noneTagIds, isToEverybody } = audience;
  const condition = conditionOf(audience);
  const has = (tagId: number): boolean => tagIds.includes(tagId);
  return (
    (anyTagIds.some(has) || (isToEverybody === true && tagIds.length > 0)) &&
    allTagIds.every(has) &&
    !noneTagIds.some(has) &&
    (condition === null || meets(condition, (id) => has(id) || facetIds.includes(id), row))
  );
}

function meets(
  condition: AudienceCondition,
  has: (tagId: number) => boolean,
  row: DeviceRow | null,
): boolean {
  if (typeof condition === 'number') return condition < 0 ? !has(-condition) : has(condition);
  if (isRowTest(condition)) return meetsRow(condition, row);
  return 'and' in condition
    ? condition.and.every((part) => meets(part, has, row))
    : condition.or.some((part) => meets(part, has, row));
}
