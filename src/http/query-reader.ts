/** The query of a list. Unknown parameters are faults: an overlooked filter would show too much. */

import { foreignText } from '../../packages/std/src/foreign-text.ts';
import { readJobId } from '../domain/job-id.ts';
import { ID_MAX } from '../domain/tag.ts';
import { nearestName } from '../std/nearest-name.ts';
import { REPLACEMENT } from '../std/utf8.ts';
import { LenientReader } from './lenient.ts';
import type { Fault } from './problem.ts';

/**
 * @publisherLimit rows of a page of a list, of push jobs and audit entries too; of those read at
 * once for a list without a limit → `400`; the next ones
 */
export const PAGE_ROWS_MAX = 1_000;
/**
 * No name and no sourceId is longer.
 * @limit a text to look for in a list → `400`
 */
const TEXT_LENGTH_MAX = 255;
/** @limit unknown parameters of a list that are reported → not reported */
const UNKNOWN_MAX = 10;
/** @limit the name of an unknown parameter of a list → cut */
const NAME_LENGTH_MAX = 64;

const DIGITS = /^\d{1,10}$/;
const isId = (number: number): boolean => number >= 1 && number <= ID_MAX;
const BAD_CURSOR = 'must be one that the Link of this list has named';

export class QueryReader {
  readonly faults: Fault[] = [];
  readonly #query: URLSearchParams;

  /** `known`: the parameters of the list. `others`: the public service ignores them. */
  constructor(
    query: URLSearchParams,
    known: readonly [string, ...string[]],
    others: 'refused' | 'ignored' = 'refused',
  ) {
    this.#query = query;
    for (const name of known) {
      if (query.getAll(name).length > 1) this.fault(name, 'is given twice');
    }
    if (others === 'ignored') return;
    const unknown = [...new Set(query.keys())].filter((name) => !known.includes(name));
    for (const name of unknown.slice(0, UNKNOWN_MAX)) {
      const nearest = nearestName(name, known);
      this.fault(foreignText(name, NAME_LENGTH_MAX), `is unknown; the nearest is ${nearest}`);
    }
  }

  /** Null: not given, or empty. */
  text(name: string): string | null {
    const value = this.#query.get(name) ?? '';
    // The character that replaces octets that are no UTF-8 is in no name, and would find nothing.
    if (value.includes(REPLACEMENT)) this.fault(name, 'must be UTF-8, percent-encoded');
    if (value.length > TEXT_LENGTH_MAX || value.includes('\0')) {
      this.fault(name, `must have ${TEXT_LENGTH_MAX} characters at most, and no NUL`);
    }
    return value === '' ? null : value;
  }

  number(name: string, least: number, most = ID_MAX): number | null {
    const value = this.#query.get(name);
    if (value === null) return null;
    const read = DIGITS.test(value) ? Number(value) : Number.NaN;
    if (read >= least && read <= most) return read;
    this.fault(name, `must be a whole number, ${least}–${most}`);
    return null;
  }

  /** Ids with commas between them. Null: not given. */
  ids(name: string, most: number): readonly number[] | null {
    const value = this.#query.get(name);
    if (value === null) return null;
    const parts = value.split(',');
    const ids = parts.filter((part) => DIGITS.test(part) && isId(Number(part))).map(Number);
    if (ids.length === parts.length && ids.length <= most) return ids;
    this.fault(name, `must be ${most} ids at most, with commas between them`);
    return null;
  }

  time(name: string): number | null {
    const text = this.text(name);
    if (text === null) return null;
    const reader = new LenientReader({ [name]: text });
    const timeMs = reader.time(name);
    this.faults.push(...reader.faults);
    return timeMs;
  }

  choice<const Word extends string>(name: string, words: readonly Word[]): Word | null {
    const text = this.text(name);
    if (text === null) return null;
    const word = words.find((known) => known === text);
    if (word === undefined) this.fault(name, `must be one of ${words.join(', ')}`);
    return word ?? null;
  }

  /** How many rows; null: all. */
  limit(): number | null {
    return this.number('limit', 1, PAGE_ROWS_MAX);
  }

  /** The numbers that a cursor is made of, as many as `first` has; not given: `first`. */
  cursor(first: readonly number[]): readonly number[] {
    const value = this.#query.get('cursor');
    if (value === null) return first;
    const numbers = value.split('.').filter((part) => DIGITS.test(part) && Number(part) <= ID_MAX);
    if (numbers.length === first.length && numbers.join('.') === value) return numbers.map(Number);
    this.fault('cursor', BAD_CURSOR);
    return first;
  }

  /** The id of the last row of the page before, where ids are UUIDs. Null: not given. */
  idCursor(): string | null {
    const text = this.text('cursor');
    const id = text === null ? null : readJobId(text);
    if (text !== null && id === null) this.fault('cursor', BAD_CURSOR);
    return id;
  }

  fault(path: string, message: string): void {
    this.faults.push({ path, message });
  }
}
