/** Applies what is to be known of a device to the numbers that it has: one of each attribute. */

import type { NumberEntry } from '../domain/device-numbers.ts';
import { attributeOfEntry } from '../domain/device-numbers.ts';

/** The entries that a device is to have, by the ids of their attributes; null: no value. */
export type WantedNumbers = ReadonlyMap<number, NumberEntry | null>;

/** The one map that says nothing: compare with it. */
export const NO_NUMBERS: WantedNumbers = new Map();

export interface NumbersAfter {
  /** Sorted. */
  readonly numbers: readonly NumberEntry[];
  readonly isChanged: boolean;
}

/** Most devices: nothing is said of them. */
const SAME_NUMBERS: NumbersAfter = { numbers: [], isChanged: false };

export function numbersAfter(before: readonly NumberEntry[], wanted: WantedNumbers): NumbersAfter {
  if (wanted === NO_NUMBERS) return SAME_NUMBERS;
  const kept = before.filter((entry) => {
    const value = wanted.get(attributeOfEntry(entry));
    return value === undefined || value === entry;
  });
  const gained = [...wanted.values()].filter(
    (entry): entry is NumberEntry => entry !== null && !before.includes(entry),
  );
  if (gained.length === 0 && kept.length === before.length) {
    return { numbers: before, isChanged: false };
  }
  return { numbers: [...kept, ...gained].sort(), isChanged: true };
}

/** The numbers of two devices that become one; of an attribute that both have, the first one's. */
export function numbersOfBoth(
  first: readonly NumberEntry[],
  second: readonly NumberEntry[],
): readonly NumberEntry[] {
  const known = new Set(first.map(attributeOfEntry));
  return [...first, ...second.filter((entry) => !known.has(attributeOfEntry(entry)))].sort();
}
