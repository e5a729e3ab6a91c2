/** The wait before another try: doubling, capped, and spread at random. */

export interface BackoffPolicy {
  readonly baseMs: number;
  readonly capMs: number;
}

/** Peers that failed together must not come back together. */
const JITTER = 0.5;

/** The wait after the `attempt`th failure (from 1): the policy's doubling, up to half above it. */
export function backoffMs(
  policy: BackoffPolicy,
  attempt: number,
  random: () => number = Math.random,
): number {
  const doubled = policy.baseMs * 2 ** Math.max(0, attempt - 1);
  return withJitter(Math.min(policy.capMs, doubled), random);
}

/** A wait that a peer has named, spread upwards: a shorter one would be too early. */
export const withJitter = (delayMs: number, random: () => number = Math.random): number =>
  Math.round(delayMs * (1 + JITTER * random()));
