/**
 * Declared numbers and times of a device. An entry has the id of its attribute and the value, as 16
 * hexadecimal digits: the entries of an attribute are in the order of their values.
 */

import type { TestOperator } from './expression-tests.ts';
import { readMoment, timeOf } from './test-times.ts';

/** Types whose values are in no dictionary. */
export const NUMBER_TYPES = ['integer', 'time'] as const;
export type NumberType = (typeof NUMBER_TYPES)[number];

export const isNumberType = (type: string): type is NumberType =>
  type === 'integer' || type === 'time';

export type NumberEntry = string;

/** Whether a device has an entry in one of the ranges, which have both their ends. */
export interface NumbersTest {
  readonly ranges: readonly (readonly [from: NumberEntry, to: NumberEntry])[];
  /** The devices with such an entry are not meant; all others are. */
  readonly isExcluded?: true;
}

/** @publisherLimit an attribute of the type integer, above or below zero → ignored, and named */
const INTEGER_MAX = 2_147_483_647;
const INTEGER_FORM = /^[+-]?\d{1,10}$/;
const MINUTE_MS = 60_000;
/** Added to a value, so that none is below zero. */
const OFFSET = 2 ** 31;
const PLACES = 2 ** 32;
const DIGITS = 8;

/** The number that a given value is kept as; of a time its minutes since 1970. Null: it is none. */
export function readNumber(type: NumberType, value: unknown): number | null {
  if (type === 'integer') return readInteger(value);
  const ms = readMoment(value);
  return ms === null ? null : minuteOf(ms);
}

function readInteger(value: unknown): number | null {
  const isText = typeof value === 'string' && INTEGER_FORM.test(value);
  const number = isText ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && Math.abs(number) <= INTEGER_MAX
    ? number
    : null;
}

const minuteOf = (ms: number): number => Math.floor(ms / MINUTE_MS);

export const entryOf = (attributeId: number, number: number): NumberEntry =>
  entryAt(attributeId, number + OFFSET);

const entryAt = (attributeId: number, place: number): NumberEntry => hex(attributeId) + hex(place);

const hex = (number: number): string => number.toString(16).padStart(DIGITS, '0');

export const attributeOfEntry = (entry: NumberEntry): number =>
  Number.parseInt(entry.slice(0, DIGITS), 16);

/** The value of an entry in the form in which it is given: of a time ISO 8601, in UTC. */
export function shownNumber(type: NumberType, entry: NumberEntry): number | string {
  const number = Number.parseInt(entry.slice(DIGITS), 16) - OFFSET;
  return type === 'time' ? `${new Date(number * MINUTE_MS).toISOString().slice(0, 16)}Z` : number;
}

/** The entries of a device, from the digits of all of them. */
export const entriesOf = (digits: string): readonly NumberEntry[] => {
  const entries: NumberEntry[] = [];
  for (let at = 0; at < digits.length; at += 2 * DIGITS) {
    entries.push(digits.slice(at, at + 2 * DIGITS));
  }
  return entries;
};

/** Any value of the attribute. */
export const anyNumber = (attributeId: number): NumbersTest => ({
  ranges: [[entryAt(attributeId, 0), entryAt(attributeId, PLACES - 1)]],
});

/** `values`: integers, or times as `readTime` has kept them. Null: no value can meet the test. */
export function numbersTest(
  attributeId: number,
  type: NumberType,
  operator: TestOperator,
  values: readonly string[],
  nowMs: number,
): NumbersTest | null {
  if (operator === 'has') return anyNumber(attributeId);
  const numbers = values.map((value) =>
    type === 'time' ? minuteOf(timeOf(value, nowMs)) : Number(value),
  );
  const ranges = [...new Set(numbers)]
    .flatMap((number) => rangesOf(operator, number + OFFSET))
    .map(([from, to]) => [Math.max(from, 0), Math.min(to, PLACES - 1)] as const)
    .filter(([from, to]) => from <= to)
    .map(([from, to]) => [entryAt(attributeId, from), entryAt(attributeId, to)] as const);
  return ranges.length === 0 ? null : { ranges };
}

function rangesOf(
  operator: Exclude<TestOperator, 'has'>,
  at: number,
): readonly (readonly [from: number, to: number])[] {
  switch (operator) {
    case '<':
      return [[0, at - 1]];
    case '<=':
      return [[0, at]];
    case '>':
      return [[at + 1, PLACES]];
    case '>=':
      return [[at, PLACES]];
    case '!=':
      return [
        [0, at - 1],
        [at + 1, PLACES],
      ];
    default:
      return [[at, at]];
  }
}

/** Whether a device with these entries meets it. */
export function meetsNumbers(test: NumbersTest, entries: readonly NumberEntry[]): boolean {
  const isIn = entries.some((entry) =>
    test.ranges.some(([from, to]) => entry >= from && entry <= to),
  );
  return isIn !== (test.isExcluded ?? false);
}
