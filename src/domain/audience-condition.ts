/**
 * The condition that an audience's expression sets on a device's tags, by their ids. It is stored
 * with the notification, and each tag index evaluates it.
 */

/** A tag id: has the tag; a negative one: has it not. */
export type AudienceCondition =
  | number
  | { readonly and: readonly AudienceCondition[] }
  | { readonly or: readonly AudienceCondition[] };

/** The id of a tag that no device has. */
export const NO_TAG = 0;

/** The ids in a condition as they stand there, with their signs. */
export const literalsOf = (condition: AudienceCondition): readonly number[] =>
  typeof condition === 'number'
    ? [condition]
    : ('and' in condition ? condition.and : condition.or).flatMap(literalsOf);

/** The condition with other ids in the same places. */
export function mapLiterals(
  condition: AudienceCondition,
  map: (literal: number) => number,
): AudienceCondition {
  if (typeof condition === 'number') return map(condition);
  const mapped = (part: AudienceCondition) => mapLiterals(part, map);
  return 'and' in condition ? { and: condition.and.map(mapped) } : { or: condition.or.map(mapped) };
}
