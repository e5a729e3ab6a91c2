/** Reads a push's fields as real clients send them: one value for an array, numbers as strings. */

import { isoTimeMs } from '../../packages/std/src/iso-8601.ts';
import { TAGS_PER_REQUEST_MAX } from '../domain/tag.ts';
import { isStorable } from '../std/name-text.ts';
import { EPOCH_MS_MIN, LOOKS_LIKE_SECONDS, TIME_FAULT } from './epoch-time.ts';
import type { Fault } from './problem.ts';

/** A value from a faulty field is never used. */
export class LenientReader {
  readonly faults: Fault[] = [];
  private readonly body: Readonly<Record<string, unknown>>;

  constructor(body: Readonly<Record<string, unknown>>) {
    this.body = body;
  }

  isGiven(name: string): boolean {
    return Object.hasOwn(this.body, name);
  }

  /** Ids: an array or one value, each a JSON number or a decimal string. */
  ids(name: string): readonly number[] {
    return this.entries(name).flatMap((entry, index) => {
      if (Number.isSafeInteger(entry)) return entry as number;
      if (typeof entry === 'string' && DECIMAL.test(entry)) return Number(entry);
      this.fault(`${name}.${index}`, 'must be an id: a whole number, or a string of digits.');
      return [];
    });
  }

  texts(name: string): readonly string[] {
    return this.entries(name).flatMap((entry, index) => {
      if (typeof entry === 'string' && isStorable(entry)) return entry;
      this.fault(`${name}.${index}`, 'must be a source id: a string without NUL.');
      return [];
    });
  }

  /** A number, a string of digits, or ISO 8601 with a time zone. Null: not given. */
  time(name: string): number | null {
    const value = this.body[name];
    if (value === undefined || value === null) return null;
    const timeMs = timeOf(value);
    if (timeMs === null) {
      this.fault(name, `${TIME_FAULT}.`);
    } else if (timeMs < EPOCH_MS_MIN && !isIso8601(value)) this.fault(name, LOOKS_LIKE_SECONDS);
    else return timeMs;
    return null;
  }

  /** A whole number, or a string of its digits. Null: not given. */
  whole(name: string, min: number, max: number): number | null {
    const value = this.body[name];
    if (value === undefined || value === null) return null;
    const number = typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value;
    if (Number.isInteger(number) && Number(number) >= min && Number(number) <= max) {
      return Number(number);
    }
    this.fault(name, `must be a whole number from ${min} to ${max}.`);
    return null;
  }

  flag(name: string): boolean {
    const value = this.body[name];
    if (value === undefined || value === null || value === false || value === 'false') return false;
    if (value === true || value === 'true') return true;
    this.fault(name, 'must be true or false.');
    return false;
  }

  /** One of a few words; not given: the first of them. */
  choice<const Word extends string>(name: string, words: readonly [Word, ...Word[]]): Word {
    const value = this.body[name];
    if (value === undefined || value === null) return words[0];
    const known = words.find((word) => word === value);
    if (known === undefined) this.fault(name, `must be ${words.join(' or ')}.`);
    return known ?? words[0];
  }

  fault(path: string, message: string): void {
    this.faults.push({ path, message });
  }

  /** Measured before one is looked at: a megabyte has room for half a million. */
  private entries(name: string): readonly unknown[] {
    const value = this.body[name];
    if (value === undefined || value === null || value === '') return [];
    if (!Array.isArray(value)) return [value];
    if (value.length <= TAGS_PER_REQUEST_MAX) return value.filter((entry) => entry !== '');
    this.fault(name, `must have ${TAGS_PER_REQUEST_MAX} entries at most.`);
    return [];
  }
}

const DECIMAL = /^\d{1,15}$/;
/** The last millisecond that a Date can hold. */
const TIME_MS_MAX = 8_640_000_000_000_000;

function timeOf(value: unknown): number | null {
  if (typeof value === 'number') return isTime(value) ? value : null;
  if (typeof value !== 'string') return null;
  const timeMs = DECIMAL.test(value) ? Number(value) : isoTimeMs(value);
  return timeMs !== null && isTime(timeMs) ? timeMs : null;
}

const isIso8601 = (value: unknown): boolean => typeof value === 'string' && !DECIMAL.test(value);

const isTime = (timeMs: number): boolean =>
  Number.isInteger(timeMs) && timeMs >= 0 && timeMs <= TIME_MS_MAX;
