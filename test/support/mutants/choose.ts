/** The same choice for the same seed, in every process and version of Node. */

/** Chooses so many distinct items, or all; a longer choice begins with the same ones. */
export function choose<T>(items: readonly T[], seed: number, count: number): readonly T[] {
  const left = [...items];
  const next = randomFractions(seed);
  const chosen: T[] = [];
  while (chosen.length < count && left.length > 0) {
    chosen.push(...left.splice(Math.floor(next() * left.length), 1));
  }
  return chosen;
}

/** Mulberry32: numbers from 0 to below 1. */
function randomFractions(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
