/** Reads a test of an attribute in an expression: `@name`, `@name >= v`, `@name in (v, "w")`. */

import type { ExpressionScanner } from './expression-scanner.ts';

/** @publisherLimit tests in an expression of an audience, those of its segments included → `400` */
export const TESTS_MAX = 20;
/** @publisherLimit values of an `in` in an expression of an audience → `400` */
export const VALUES_MAX = 100;

/** `has`: the device has any value. */
export type TestOperator = 'has' | '=' | '!=' | '<' | '<=' | '>' | '>=' | 'in';

export interface TestValue {
  readonly text: string;
  /** The position of its first character. */
  readonly position: number;
}

/** A test as it is written: whether there is such an attribute is not known yet. */
export interface WrittenTest {
  readonly name: string;
  readonly operator: TestOperator;
  /** The position of the operator; of `has`, of the test. */
  readonly operatorPosition: number;
  /** One; of `in` at least one; of `has` none. */
  readonly values: readonly TestValue[];
}

const NAME = /@([\p{L}\p{N}_]+)/uy;
const OPERATOR = /<=|>=|!=|=|<|>/y;
const IN = /in(?=[ \t\r\n]*\()/y;
/** A value that needs no quotation marks. */
const BARE = /[\p{L}\p{M}\p{N}_.:+/-]+/uy;

/** Reads the test whose `@` is next. Null: it is faulty. */
export function readTest(scanner: ExpressionScanner): WrittenTest | null {
  const position = scanner.at;
  const name = scanner.match(NAME)?.[1];
  if (name === undefined) return scanner.fail(position, NO_NAME);
  const behindName = scanner.at;
  scanner.skipSpace();
  const operatorPosition = scanner.at;
  if (scanner.match(IN) !== null) {
    const values = readValues(scanner);
    return values && { name, operator: 'in', operatorPosition, values };
  }
  const operator = scanner.match(OPERATOR)?.[0] as TestOperator | undefined;
  if (operator === undefined) {
    // The blank space belongs to what comes next.
    scanner.at = behindName;
    return { name, operator: 'has', operatorPosition: position, values: [] };
  }
  const value = readValue(scanner);
  return value && { name, operator, operatorPosition, values: [value] };
}

/** The values in parentheses. */
function readValues(scanner: ExpressionScanner): readonly TestValue[] | null {
  scanner.take('(');
  const values: TestValue[] = [];
  do {
    const value = readValue(scanner);
    if (value === null) return null;
    if (values.length === VALUES_MAX) {
      return scanner.fail(value.position, `"in" may have ${VALUES_MAX} values at most.`);
    }
    values.push(value);
  } while (scanner.take(','));
  return scanner.take(')') ? values : scanner.fail(scanner.at, NO_CLOSING);
}

function readValue(scanner: ExpressionScanner): TestValue | null {
  scanner.skipSpace();
  const position = scanner.at;
  const bare = scanner.match(BARE)?.[0];
  const text = bare ?? (scanner.peek() === '"' ? scanner.quoted() : null);
  return text === null ? scanner.fail(position, NO_VALUE) : { text, position };
}

const NO_NAME = 'After "@" must stand the name of an attribute.';
const NO_VALUE =
  'Here must stand a value: in quotation marks if it has other characters than letters, digits and _ - . : + /.';
const NO_CLOSING = 'Here must stand "," and a further value, or ")".';
