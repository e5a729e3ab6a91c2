/** The tags of an audience: facts for every index, and the answer for one device. */

import type { AudienceCondition } from './audience-condition.ts';
import { isDaysTest, literalsOf, mapLiterals, NO_TAG } from './audience-condition.ts';
import type { DeviceDays } from './device-days.ts';
import { meetsDays } from './device-days.ts';
import type { Audience } from './notification.ts';

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
}: Pick<Audience, 'anyTagIds' | 'isToEverybody'>): boolean =>
  anyTagIds.length === 0 && isToEverybody !== true;

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
 * Whether a device with these tags, these values of attributes, and these days, is in the audience;
 * the tag indexes answer that for many.
 */
export function isInAudience(
  audience: Audience,
  tagIds: readonly number[],
  facetIds: readonly number[] = [],
  days: DeviceDays | null = null,
): boolean {
  const { anyTagIds, allTagIds, noneTagIds, isToEverybody } = audience;
  const condition = conditionOf(audience);
  const has = (tagId: number): boolean => tagIds.includes(tagId);
  return (
    (anyTagIds.some(has) || (isToEverybody === true && tagIds.length > 0)) &&
    allTagIds.every(has) &&
    !noneTagIds.some(has) &&
    (condition === null || meets(condition, (id) => has(id) || facetIds.includes(id), days))
  );
}

function meets(
  condition: AudienceCondition,
  has: (tagId: number) => boolean,
  days: DeviceDays | null,
): boolean {
  if (typeof condition === 'number') return condition < 0 ? !has(-condition) : has(condition);
  if (isDaysTest(condition)) return meetsDays(condition, days);
  return 'and' in condition
    ? condition.and.every((part) => meets(part, has, days))
    : condition.or.some((part) => meets(part, has, days));
}
