/**
 * The audience as a job keeps it: tests of attributes stand in its condition. What they mean in ids
 * is found when a part is claimed, for values that appear after acceptance count.
 */

import type { TestedType } from './attribute-test.ts';
import type { SCOPE_ATTRIBUTE_NAMES } from './attributes.ts';
import type { AudienceCondition } from './audience-condition.ts';
import type { DayAttribute } from './device-days.ts';
import type { TestOperator } from './expression-tests.ts';
import type { Audience } from './notification.ts';
import type { RowTest } from './row-tests.ts';

/** The (app, platform) of a device answers these tests: its numbers are the values. */
type ScopeSubject = (typeof SCOPE_ATTRIBUTE_NAMES)[number];

/** Values are kept as the dictionary has them. */
export interface AskedTest {
  /** The id of an attribute, or the name of one that is not in the dictionary. */
  readonly subject: number | ScopeSubject | DayAttribute;
  readonly type: TestedType;
  readonly operator: TestOperator;
  readonly values: readonly string[];
  /** It stands under an odd number of `!`. Absent: it does not. */
  readonly isExcluded?: true;
}

export type AskedCondition =
  | number
  | AskedTest
  | { readonly and: readonly AskedCondition[] }
  | { readonly or: readonly AskedCondition[] };

export interface AskedAudience extends Omit<Audience, 'condition' | 'facetIds' | 'asksRows'> {
  readonly condition?: AskedCondition | null;
}

/** Its tests; of one without a condition none. */
export function askedTestsOf({ condition }: AskedAudience): readonly AskedTest[] {
  return condition === null || condition === undefined ? [] : testsIn(condition);
}

function testsIn(condition: AskedCondition): readonly AskedTest[] {
  if (typeof condition === 'number') return [];
  return 'subject' in condition ? [condition] : askedPartsOf(condition).flatMap(testsIn);
}

const askedPartsOf = (
  condition: Exclude<AskedCondition, number | AskedTest>,
): readonly AskedCondition[] => ('and' in condition ? condition.and : condition.or);

/** Whether an index can be asked as it is: its condition has the ids of tags alone. */
export function isPlain(audience: AskedAudience): audience is AskedAudience & Audience {
  const { condition } = audience;
  return condition === null || condition === undefined || hasIdsAlone(condition);
}

const hasIdsAlone = (condition: AskedCondition): boolean =>
  typeof condition === 'number' ||
  (!('subject' in condition) && askedPartsOf(condition).every(hasIdsAlone));

/**
 * The ids of the values that meet a test, what the rows of devices are to be asked, or whether it
 * holds for the whole (app, platform).
 */
export type Met = readonly (number | RowTest)[] | boolean;

type MetBy = (test: AskedTest) => Met;

/** Puts ids, and tests of rows, in place of tests: the audience as indexes are asked for it. */
export function withFacets(asked: AskedAudience, metBy: MetBy): Audience {
  const { condition, ...audience } = asked;
  if (condition === null || condition === undefined) return audience;
  const facetIds = new Set<number>();
  let asksRows = false;
  const met = compiled(condition, (test) => {
    const found = metBy(test);
    if (typeof found === 'boolean') return found;
    for (const one of found) {
      if (typeof one === 'number') facetIds.add(one);
      else asksRows = true;
    }
    return found;
  });
  if (met === false) return { anyTagIds: [], allTagIds: [], noneTagIds: [] };
  if (met === true) return audience;
  return {
    ...audience,
    condition: met,
    ...(facetIds.size === 0 ? {} : { facetIds: [...facetIds] }),
    ...(asksRows ? { asksRows } : {}),
  };
}

/** True: each device meets it; false: none does. */
function compiled(condition: AskedCondition, metBy: MetBy): AudienceCondition | boolean {
  if (typeof condition === 'number') return condition;
  if ('subject' in condition) return compiledTest(condition, metBy(condition));
  const parts = askedPartsOf(condition).map((part) => compiled(part, metBy));
  return joined('and' in condition ? 'and' : 'or', parts);
}

function compiledTest({ isExcluded }: AskedTest, met: Met): AudienceCondition | boolean {
  if (typeof met === 'boolean') return met !== (isExcluded ?? false);
  return isExcluded ? joined('and', met.map(negated)) : joined('or', met);
}

const negated = (met: number | RowTest): AudienceCondition =>
  typeof met === 'number' ? -met : { ...met, isExcluded: true };

/** Without what is always, or never, met. */
function joined(
  how: 'and' | 'or',
  parts: readonly (AudienceCondition | boolean)[],
): AudienceCondition | boolean {
  const deciding = how === 'or';
  if (parts.some((part) => part === deciding)) return deciding;
  const open = parts.filter((part) => typeof part !== 'boolean');
  const [first] = open;
  if (first === undefined) return !deciding;
  if (open.length === 1) return first;
  return how === 'and' ? { and: open } : { or: open };
}
