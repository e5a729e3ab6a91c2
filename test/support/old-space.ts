/**
 * Finds objects that are kept though they are not needed: objects that a collection of the young
 * generation cannot free, because something old and dead leads to them. They stay until a full
 * collection (decision 35).
 */

import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const ROUNDS_FIRST = 100;
const ROUNDS = 200;
const ROUNDS_BETWEEN = 10;

/** Rounds that do not count: what ran in this process before becomes old in them, all at once. */
const LARGEST_LEFT_OUT = 2;

/** Octets that become old each time that `work` is done, but for its largest rounds. */
export async function oldOctetsOf(work: () => Promise<unknown>): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
  const done = async (rounds: number): Promise<number> => {
    const grown: number[] = [];
    for (let round = 0; round < rounds; round += ROUNDS_BETWEEN) {
      const before = oldOctets();
      for (let times = 0; times < ROUNDS_BETWEEN; times += 1) await work();
      // An object that survives two of them is old.
      for (let times = 0; times < 2; times += 1) collect({ type: 'minor' });
      // A full collection may have come between.
      grown.push(Math.max(0, oldOctets() - before) / ROUNDS_BETWEEN);
    }
    const counted = grown.sort((a, b) => a - b).slice(0, -LARGEST_LEFT_OUT);
    return counted.reduce((sum, octets) => sum + octets, 0) / counted.length;
  };
  await done(ROUNDS_FIRST);
  return done(ROUNDS);
}

function oldOctets(): number {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space');
  if (space === undefined) throw new Error('V8 has no old space');
  return space.space_used_size;
}
