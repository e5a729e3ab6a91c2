/** Says whether a value, as the dictionary has it, meets a test of its attribute. */

import type { AttributeType } from './attributes.ts';
import type { TestOperator } from './expression-tests.ts';

/** The numbers of apps and platforms are compared as numbers. */
export type TestedType = AttributeType | 'number';

const EQUALITY: readonly TestOperator[] = ['=', '!=', 'in'];
const SAMENESS: readonly TestOperator[] = ['=', 'in'];
const ORDER: readonly TestOperator[] = ['=', '!=', '<', '<=', '>', '>=', 'in'];

/** Besides `has`. */
export const OPERATORS_OF: Readonly<Record<TestedType, readonly TestOperator[]>> = {
  text: EQUALITY,
  boolean: EQUALITY,
  language: SAMENESS,
  zone: SAMENESS,
  version: ORDER,
  number: ORDER,
  integer: ORDER,
  time: ORDER,
};

/** Whether a device with this value meets the test. */
export function meetsTest(
  type: TestedType,
  operator: TestOperator,
  wanted: readonly string[],
  value: string,
): boolean {
  const [first = ''] = wanted;
  switch (operator) {
    case 'has':
      return true;
    case '=':
    case 'in':
      return wanted.some((one) => isSame(type, one, value));
    case '!=':
      return !isSame(type, first, value);
    case '<':
      return compareNumbers(value, first) < 0;
    case '<=':
      return compareNumbers(value, first) <= 0;
    case '>':
      return compareNumbers(value, first) > 0;
    case '>=':
      return compareNumbers(value, first) >= 0;
  }
}

/** Whether a value is the wanted one: a language also when it begins with all its subtags. */
const isSame = (type: TestedType, wanted: string, value: string): boolean =>
  value === wanted || (type === 'language' && value.startsWith(`${wanted}-`));

/** Compares versions, whose missing numbers are zeros, and single numbers. */
function compareNumbers(one: string, other: string): number {
  const left = one.split('.').map(Number);
  const right = other.split('.').map(Number);
  for (let place = 0; place < Math.max(left.length, right.length); place += 1) {
    const difference = (left[place] ?? 0) - (right[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
