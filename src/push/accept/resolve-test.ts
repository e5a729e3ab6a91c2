/** Finds what a test of an expression asks: its attribute, and its values as they are kept. */

import type { AskedTest } from '../../domain/asked-audience.ts';
import type { TestedType } from '../../domain/attribute-test.ts';
import { OPERATORS_OF } from '../../domain/attribute-test.ts';
import { normalizeValue } from '../../domain/attribute-values.ts';
import type { Attribute } from '../../domain/attributes.ts';
import { BUILT_IN_ATTRIBUTES, SCOPE_ATTRIBUTE_NAMES } from '../../domain/attributes.ts';
import type { TestOperand } from '../../domain/audience-expression.ts';
import { DAY_ATTRIBUTE_NAMES } from '../../domain/device-days.ts';
import { readNumber } from '../../domain/device-numbers.ts';
import type { TestValue } from '../../domain/expression-tests.ts';
import { readTime } from '../../domain/test-times.ts';
import { nearestName } from '../../std/nearest-name.ts';
import type { PushFault } from './push.ts';

/** A test with the name of its attribute. */
export interface NamedTest {
  readonly name: string;
  readonly isPersonal: boolean;
  readonly asked: AskedTest;
}

type ResolvedTest =
  | { readonly ok: true; readonly test: NamedTest }
  | { readonly ok: false; readonly faults: readonly PushFault[] };

/** `declared`: those attributes of the client that its push names. */
export function resolveTest(
  { test, position, isExcluded }: TestOperand,
  declared: ReadonlyMap<string, Attribute>,
): ResolvedTest {
  const tested = testedOf(test.name, declared);
  if (tested === null)
    return { ok: false, faults: [unknownAttribute(test.name, position, declared)] };
  const { subject, type, isPersonal } = tested;
  if (test.operator !== 'has' && !OPERATORS_OF[type].includes(test.operator)) {
    const message = `@${test.name} is ${type === 'integer' ? 'an' : 'a'} ${type}: it takes ${OPERATORS_OF[type].join(' ')} and no ${test.operator}.`;
    return { ok: false, faults: [faultAt(test.operatorPosition, message)] };
  }
  const values = test.values.map((value) => ({ value, kept: keptOf(tested, value) }));
  const faults = values
    .filter(({ kept }) => kept === null)
    .map(({ value }) => noValue(test.name, type, value));
  if (faults.length > 0) return { ok: false, faults };
  const asked: AskedTest = {
    subject,
    type,
    operator: test.operator,
    values: [...new Set(values.flatMap(({ kept }) => kept ?? []))],
    ...(isExcluded ? { isExcluded } : {}),
  };
  return { ok: true, test: { name: test.name, isPersonal, asked } };
}

interface Tested {
  readonly subject: AskedTest['subject'];
  readonly type: TestedType;
  readonly isPersonal: boolean;
}

/** Null: there is no such attribute. */
function testedOf(name: string, declared: ReadonlyMap<string, Attribute>): Tested | null {
  const ofScope = SCOPE_ATTRIBUTE_NAMES.find((one) => one === name);
  if (ofScope !== undefined) return { subject: ofScope, type: 'number', isPersonal: false };
  const day = DAY_ATTRIBUTE_NAMES.find((one) => one === name);
  if (day !== undefined) return { subject: day, type: 'time', isPersonal: false };
  const attribute = builtIns.get(name) ?? declared.get(name);
  return attribute === undefined ? null : { ...attribute, subject: attribute.id };
}

const builtIns = new Map(BUILT_IN_ATTRIBUTES.map((attribute) => [attribute.name, attribute]));

const NUMBER = /^\d{1,10}$/;

function keptOf({ subject, type }: Tested, { text }: TestValue): string | null {
  if (type === 'number') return NUMBER.test(text) ? String(Number(text)) : null;
  if (type === 'time') return readTime(text);
  if (type === 'integer') return integerOf(text);
  return normalizeValue({ id: Number(subject), type }, text);
}

function integerOf(text: string): string | null {
  const number = readNumber('integer', text);
  return number === null ? null : String(number);
}

const faultAt = (position: number, message: string): PushFault => ({
  path: 'audience',
  position,
  message,
});

function unknownAttribute(
  name: string,
  position: number,
  declared: ReadonlyMap<string, Attribute>,
): PushFault {
  const nearest = nearestName(name, [
    ...SCOPE_ATTRIBUTE_NAMES,
    ...DAY_ATTRIBUTE_NAMES,
    ...builtIns.keys(),
    ...declared.keys(),
  ]);
  return faultAt(
    position,
    `There is no attribute ${JSON.stringify(name)}; the nearest is ${nearest}.`,
  );
}

const noValue = (name: string, type: TestedType, { text, position }: TestValue): PushFault =>
  faultAt(position, `${JSON.stringify(text)} is no value of @${name}: ${FORMS[type]}.`);

const FORMS: Readonly<Record<TestedType, string>> = {
  text: 'it has 1–64 characters, of a country the two letters of ISO 3166',
  boolean: 'it is true or false',
  language: 'it is a language of BCP 47, as de or de-CH',
  zone: 'it is a time zone of IANA, as Europe/Zurich',
  version: 'it is up to four numbers by dots, as 5.2',
  number: 'it is a number',
  integer: 'it is a whole number from -2147483647 to 2147483647',
  time: 'it is a time of ISO 8601, as 2027-01-31 or 2027-01-31T12:00Z, epoch milliseconds, or as far from the sending as -30d, -12h or +7d',
};
