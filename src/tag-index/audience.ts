/** Facts about an audience that every index needs. */

import type { AudienceCondition } from '../domain/audience-condition.ts';
import { literalsOf, mapLiterals, NO_TAG } from '../domain/audience-condition.ts';
import type { Audience } from '../domain/notification.ts';

/** All tags that decide whether a device matches. */
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
export const isNobody = ({ anyTagIds }: Audience): boolean => anyTagIds.length === 0;

/** What its devices meet besides; null: nothing. Whoever evaluates it asks for this one. */
export function conditionOf({ anyTagIds, condition }: Audience): AudienceCondition | null {
  if (condition === undefined || condition === null) return null;
  const current = new Set(anyTagIds);
  return mapLiterals(condition, (literal) =>
    literal > 0 && !current.has(literal) ? NO_TAG : literal,
  );
}
