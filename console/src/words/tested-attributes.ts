/** The attributes that conditions test, with their comparisons, and the fields of their values. */

import type { Attribute } from '../../../packages/client/src/openapi.ts';
import type { TestedType } from '../../../src/domain/attribute-test.ts';
import { OPERATORS_OF } from '../../../src/domain/attribute-test.ts';
import { SCOPE_ATTRIBUTE_NAMES } from '../../../src/domain/attributes.ts';
import { DAY_ATTRIBUTE_NAMES } from '../../../src/domain/device-days.ts';
import { isNumberType } from '../../../src/domain/device-numbers.ts';
import { readTime } from '../../../src/domain/test-times.ts';

export interface TestedAttribute {
  readonly name: string;
  readonly type: TestedType;
  readonly isPersonal: boolean;
  readonly isBuiltIn: boolean;
}

type ValueKind =
  /** Typed, and offered by what devices have. */
  | 'offered'
  | 'version'
  | 'whole number'
  | 'time'
  | 'yes or no'
  /** One of the platforms, or of the apps. */
  | 'choice';

/** Keyed by the type of an attribute. */
const VALUE_KINDS: Readonly<Record<TestedType, ValueKind>> = {
  text: 'offered',
  language: 'offered',
  zone: 'offered',
  version: 'version',
  integer: 'whole number',
  time: 'time',
  boolean: 'yes or no',
  number: 'choice',
};

/** The comparisons that the rows of a kind have besides "is". Absent: all of its type. */
const OPERATORS_SHOWN: Readonly<Partial<Record<ValueKind, readonly string[]>>> = {
  'yes or no': ['='],
  choice: ['=', 'in', '!='],
  time: ['<', '<=', '>', '>=', '=', '!='],
};

export const valueKindOf = ({ type }: Pick<TestedAttribute, 'type'>): ValueKind =>
  VALUE_KINDS[type];

/** Numbers and times are in no list: nearly each device may have another one. */
export const hasValueList = ({ type }: Pick<TestedAttribute, 'type'>): boolean =>
  !isNumberType(type);

/** Each device has them by its app and platform, so the engine does not list them. */
const OF_SCOPE = SCOPE_ATTRIBUTE_NAMES.map((name) => ({
  ...{ name, type: 'number' as const },
  isPersonal: false,
  isBuiltIn: true,
}));

/** Those that may be tested: the listed ones, and what is known of every device. */
export function testedAttributes(listed: readonly Attribute[]): readonly TestedAttribute[] {
  const known = listed.map(({ name, type, personal, isBuiltIn }) => ({
    ...{ name, type, isBuiltIn },
    isPersonal: personal,
  }));
  const isOwn = ({ isBuiltIn }: TestedAttribute): boolean => !isBuiltIn;
  return [...known.filter((one) => !isOwn(one)), ...OF_SCOPE, ...known.filter(isOwn)];
}

/** Known of a device to the day. */
export const isOfDay = (name: string): boolean => DAY_ATTRIBUTE_NAMES.some((one) => one === name);

/**
 * The comparisons that are offered. `not ` turns one round: a device without a value meets it, too.
 */
export function operatorsOf(attribute: Pick<TestedAttribute, 'type'>): readonly string[] {
  const taken: readonly string[] = OPERATORS_OF[attribute.type];
  const kind = OPERATORS_SHOWN[valueKindOf(attribute)];
  const shown = kind?.filter((operator) => taken.includes(operator)) ?? taken;
  const others = ['=', 'in'].filter((operator) => shown.includes(operator));
  return [...shown, ...others.map((operator) => `not ${operator}`), 'has', 'not has'];
}

const NOT = /^not /;

/** Whether a row can have it: one that is offered, or its contrary. */
export const isComparison = (
  attribute: Pick<TestedAttribute, 'type'>,
  operator: string,
): boolean => {
  const offered = operatorsOf(attribute);
  return offered.includes(operator) || offered.includes(operator.replace(NOT, ''));
};

const WHOLE_NUMBER = /^-?\d+$/;

/** Whether the field of its kind can show it. */
export function isValueOf(attribute: Pick<TestedAttribute, 'type'>, text: string): boolean {
  switch (valueKindOf(attribute)) {
    case 'offered':
    case 'version':
      return true;
    case 'whole number':
    case 'choice':
      return WHOLE_NUMBER.test(text);
    case 'time':
      return readTime(text) !== null;
    case 'yes or no':
      return text === 'true' || text === 'false';
  }
}
