/** Watches a simulated provider over a time: a rate from its side. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Simulator } from '../../packages/simulator/src/simulator.ts';

/** An eighth of the shortest time in which sends are counted; little work for the simulator. */
const LOOK_EVERY_MS = 25;

/**
 * The provider's accepted sends at a moment between two times, which a busy machine moves apart.
 */
export interface Sample {
  readonly askedMs: number;
  readonly atMs: number;
  readonly accepted: number;
}

/** Notes what the provider has accepted, again and again. */
export function watchProvider({ controlUrl }: Pick<Simulator, 'controlUrl'>) {
  const samples: Sample[] = [];
  let isWatching = true;
  const look = async (): Promise<void> => {
    const askedMs = performance.now();
    const { apns } = (await (await fetch(`${controlUrl}/state`)).json()) as {
      readonly apns: { readonly accepted: number };
    };
    samples.push({ askedMs, atMs: performance.now(), accepted: apns.accepted });
  };
  const watching = (async () => {
    while (isWatching) {
      await look();
      await sleep(LOOK_EVERY_MS);
    }
    // It sees what was accepted before its end.
    await look();
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

/** Accepted in a second, between two samples; not more than there were. */
export const rateOf = (from: Sample, to: Sample): number =>
  ((to.accepted - from.accepted) * 1_000) / (to.atMs - from.askedMs);

/** The most that were surely accepted within so long. */
export function mostIn(samples: readonly Sample[], lengthMs: number): number {
  const within = (from: Sample): number =>
    (samples.findLast(({ atMs }) => atMs - from.askedMs <= lengthMs) ?? from).accepted -
    from.accepted;
  return Math.max(...samples.map(within));
}
