/** Watches a simulated provider over a time: a rate from its side. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Simulator } from '../../packages/simulator/src/simulator.ts';

/** An eighth of the shortest time in which sends are counted; little work for the simulator. */
const LOOK_EVERY_MS = 25;

/** The provider's accepted sends at a time. */
export interface Sample {
  readonly atMs: number;
  readonly accepted: number;
}

/** Notes what the provider has accepted, again and again. */
export function watchProvider({ controlUrl }: Pick<Simulator, 'controlUrl'>) {
  const samples: Sample[] = [];
  let isWatching = true;
  const watching = (async () => {
    while (isWatching) {
      const { apns } = (await (await fetch(`${controlUrl}/state`)).json()) as {
        readonly apns: { readonly accepted: number };
      };
      samples.push({ atMs: performance.now(), accepted: apns.accepted });
      await sleep(LOOK_EVERY_MS);
    }
  })();
  return {
    samples,
    accepted: () => samples.at(-1)?.accepted ?? 0,
    stop() {
      isWatching = false;
      return watching;
    },
  };
}

/** Accepted in a second, between two samples. */
export const rateOf = (from: Sample, to: Sample): number =>
  ((to.accepted - from.accepted) * 1_000) / (to.atMs - from.atMs);

/** The most that were accepted within so long. */
export function mostIn(samples: readonly Sample[], lengthMs: number): number {
  const within = (from: Sample): number =>
    (samples.findLast(({ atMs }) => atMs - from.atMs <= lengthMs) ?? from).accepted - from.accepted;
  return Math.max(...samples.map(within));
}
