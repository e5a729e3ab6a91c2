/** The condition of an audience's expression on the tags of devices, which indexes evaluate. */

import type { RowTest } from './row-tests.ts';

/** A tag id: has the tag; a negative one: has it not. */
export type AudienceCondition =
  | number
  | RowTest
  | { readonly and: readonly AudienceCondition[] }
  | { readonly or: readonly AudienceCondition[] };

export const NO_TAG = 0;

/** It asks for what no tag or facet says. */
export const isRowTest = (condition: AudienceCondition): condition is RowTest =>
  typeof condition === 'object' && ('day' in condition || 'ranges' in condition);

export function literalsOf(condition: AudienceCondition): readonly number[] {
  if (typeof condition === 'number') return [condition];
  return isRowTest(condition) ? [] : partsOf(condition).flatMap(literalsOf);
}

export const partsOf = (
  condition: Exclude<AudienceCondition, number | RowTest>,
): readonly AudienceCondition[] => ('and' in condition ? condition.and : condition.or);

/** The condition with other ids in the same places. */
export function mapLiterals(
  condition: AudienceCondition,
  map: (literal: number) => number,
): AudienceCondition {
  if (typeof condition === 'number') return map(condition);
  if (isRowTest(condition)) return condition;
  const mapped = (part: AudienceCondition) => mapLiterals(part, map);
  return 'and' in condition ? { and: condition.and.map(mapped) } : { or: condition.or.map(mapped) };
}
