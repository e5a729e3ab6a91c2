/** The condition of an audience's expression on the tags of devices, which indexes evaluate. */

/** A tag id: has the tag; a negative one: has it not. */
export type AudienceCondition =
  | number
  | { readonly and: readonly AudienceCondition[] }
  | { readonly or: readonly AudienceCondition[] };

export const NO_TAG = 0;

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
