/** Finds the known name that an unknown one most likely means. */

/** The time grows with the square of the length of a stranger's name. */
const LENGTH_MAX = 64;

/** The name in `known` that takes the fewest changes; case, `_` and `-` are ignored. */
export function nearestName(name: string, known: readonly [string, ...string[]]): string {
  const meant = folded(name.slice(0, LENGTH_MAX));
  let nearest = known[0];
  let least = Infinity;
  for (const candidate of known) {
    const changes = changesBetween(meant, folded(candidate));
    if (changes < least) [nearest, least] = [candidate, changes];
  }
  return nearest;
}

const folded = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');

/** Characters to insert, delete or replace (Levenshtein). */
function changesBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 0; i < one.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j += 1) {
      const replaced = (row[j] ?? 0) + (one[i] === other[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
