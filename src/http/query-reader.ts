/** Reading the parameters of a query: what is wrong with each, all at once. */

import { foreignText } from '../std/foreign-text.ts';
import { nearestName } from '../std/nearest-name.ts';
import { LenientReader } from './notifications/lenient.ts';
import type { Fault } from './problem.ts';

const WHOLE = /^\d{1,15}$/;
/** Unknown parameters that are told, and how much of their names. */
const UNKNOWN_MAX = 10;
const NAME_LENGTH_MAX = 64;

/** Collects faults; what is read from a faulty parameter is never used. */
export class QueryReader {
  readonly faults: Fault[] = [];
  private readonly query: URLSearchParams;

  constructor(query: URLSearchParams) {
    this.query = query;
  }

  /** A parameter that is overlooked would make a list of something else. */
  refuseUnknown(known: readonly [string, ...string[]]): void {
    const unknown = [...new Set(this.query.keys())].filter((name) => !known.includes(name));
    for (const name of unknown.slice(0, UNKNOWN_MAX)) {
      const message = `is not a parameter; the nearest is ${nearestName(name, known)}.`;
      this.faults.push({ path: foreignText(name, NAME_LENGTH_MAX), message });
    }
  }

  /** Null: not given, or empty. */
  text(name: string): string | null {
    const values = this.query.getAll(name);
    if (values.length > 1) this.fault(name, 'is given more than once.');
    return values[0] === undefined || values[0] === '' ? null : values[0];
  }

  whole(name: string, min: number, max: number): number | null {
    const text = this.text(name);
    if (text === null) return null;
    const value = WHOLE.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    this.fault(name, `must be a whole number, ${min}–${max}.`);
    return null;
  }

  /** Epoch milliseconds. */
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
    const known = words.find((word) => word === text);
    if (known === undefined) this.fault(name, `must be one of ${words.join(', ')}.`);
    return known ?? null;
  }

  fault(path: string, message: string): void {
    this.faults.push({ path, message });
  }
}
