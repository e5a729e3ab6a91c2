/**
 * How long a provider takes to answer: a fixed time, and one that is drawn for each request. Drawn
 * times spread log-normally, as those of real providers do.
 */

import type { Behaviour, LatencySpread } from './behaviour.ts';
import { draw } from './random.ts';

/** The 99th percentile of the standard normal distribution. */
const Z_99 = 2.326;
/** So that the second draw of a request does not depend on the first. */
const SECOND_DRAW = 1_000_000_000;

/** The time until the answer to a connection's nth request; null: all are answered at once. */
export function answerDelay(
  { latencyMs, latencySpread, seed }: Behaviour,
  connectionNumber: number,
): ((request: number) => number) | null {
  if (latencySpread === null) return latencyMs === 0 ? null : () => latencyMs;
  const purpose = `latency ${connectionNumber}`;
  return (request) => latencyMs + drawLatencyMs(latencySpread, seed, purpose, request);
}

function drawLatencyMs(
  { p50Ms, p99Ms, maxMs }: LatencySpread,
  seed: number,
  purpose: string,
  request: number,
): number {
  const first = draw(seed, purpose, request);
  const second = draw(seed, purpose, request + SECOND_DRAW);
  // Box and Muller's normal number; 1 - first is never 0, which has no logarithm.
  const normal = Math.sqrt(-2 * Math.log(1 - first)) * Math.cos(2 * Math.PI * second);
  return Math.min(maxMs, Math.round(p50Ms * (p99Ms / p50Ms) ** (normal / Z_99)));
}
