/**
 * What is kept though nobody needs it: objects that a collection of the young generation cannot
 * free, because something old and dead leads to them. They stay until a full collection (decision
 * 35).
 */

import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const ROUNDS_FIRST = 100;
const ROUNDS = 200;
const ROUNDS_BETWEEN = 10;

/**
 * Octets that become old each time that `work` is done: the median, for what ran in this process
 * before may become old meanwhile, and all at once.
 */
export async function oldOctetsOf(work: () => Promise<unknown>): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
  const done = async (rounds: number): Promise<number> => {
    const grown: number[] = [];
    for (let round = 0; round < rounds; round += ROUNDS_BETWEEN) {
      const before = oldOctets();
      for (let times = 0; times < ROUNDS_BETWEEN; times += 1) await work();
      // Whoever survives two of them is old.
      for (let times = 0; times < 2; times += 1) collect({ type: 'minor' });
      // A full collection may have come between.
      grown.push(Math.max(0, oldOctets() - before) / ROUNDS_BETWEEN);
    }
    return grown.sort((a, b) => a - b)[Math.floor(grown.length / 2)] ?? 0;
  };
  await done(ROUNDS_FIRST);
  return done(ROUNDS);
}

function oldOctets(): number {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space');
  if (space === undefined) throw new Error('V8 has no old space');
  return space.space_used_size;
}
