/** The name that a mistyped one was most likely meant to be. */

import { closestMatch } from 'leven';

/** So many letters may be wrong: one in three, and two at most. A short word is near to many. */
const DISTANCE_MAX = 2;
const LETTERS_FOR_ONE = 3;

/** Null: none is near. */
export function nearestName(name: string, names: readonly string[]): string | null {
  const maxDistance = Math.min(DISTANCE_MAX, Math.floor(name.length / LETTERS_FOR_ONE));
  return maxDistance === 0 ? null : (closestMatch(name, names, { maxDistance }) ?? null);
}
