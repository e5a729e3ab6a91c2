/** Finds the known name that an unknown one most likely means. */

import leven from 'leven';

/** The time grows with the square of the length of a stranger's name. */
const LENGTH_MAX = 64;
/** So many letters of a mistyped name are wrong: one in three, two at most. */
const WRONG_MAX = 2;
const LETTERS_FOR_ONE = 3;

/** The name in `known` that takes the fewest changes; case, `_` and `-` are ignored. */
export function nearestName(name: string, known: readonly [string, ...string[]]): string {
  let nearest = known[0];
  let least = Infinity;
  for (const candidate of known) {
    const changes = changesBetween(name, candidate);
    if (changes < least) [nearest, least] = [candidate, changes];
  }
  return nearest;
}

/** The nearest name, when so few letters differ that it was most likely meant; null: none. */
export function meantName(name: string, known: readonly string[]): string | null {
  const [first, ...rest] = known;
  if (first === undefined) return null;
  const nearest = nearestName(name, [first, ...rest]);
  const wrongMax = Math.min(WRONG_MAX, Math.floor(name.length / LETTERS_FOR_ONE));
  return wrongMax > 0 && changesBetween(name, nearest) <= wrongMax ? nearest : null;
}

/** Characters to insert, delete or replace (Levenshtein). */
const changesBetween = (one: string, other: string): number =>
  leven(folded(one.slice(0, LENGTH_MAX)), folded(other));

const folded = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');
