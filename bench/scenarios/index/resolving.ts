/** How fast a layout resolves, and what that costs this process and Redis. */

import type { Audience } from '../../../src/domain/notification.ts';
import { median } from '../../median.ts';
import type { Layout } from './layouts.ts';
import type { MeasuredRedis } from './redis.ts';

export interface Resolved {
  readonly devicesPerSecond: number;
  readonly clientCpuMicros: number;
  readonly redisHeldMs: number;
}

const ROUNDS = 5;
/** A round of a rare tag is over before the clock has moved. */
const ROUND_MS_MIN = 100;

/** Rounds of both in turns, after one in which the code becomes hot. */
export async function resolveInTurns(
  entrants: readonly { readonly layout: Layout; readonly redis: MeasuredRedis }[],
  devices: number,
  audience: Audience,
): Promise<readonly Resolved[]> {
  const rounds = entrants.map((): Resolved[] => []);
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [at, { layout, redis }] of entrants.entries()) {
      const resolved = await resolveOnce(layout, redis, devices, audience);
      if (round > 0) rounds[at]?.push(resolved);
    }
  }
  return rounds.map((resolved) => ({
    devicesPerSecond: Math.round(median(resolved.map((row) => row.devicesPerSecond))),
    clientCpuMicros: median(resolved.map((row) => row.clientCpuMicros)),
    redisHeldMs: Math.max(...resolved.map((row) => row.redisHeldMs)),
  }));
}

async function resolveOnce(
  layout: Layout,
  redis: MeasuredRedis,
  devices: number,
  audience: Audience,
): Promise<Resolved> {
  await redis.heldMsMax();
  const startMs = performance.now();
  const before = process.cpuUsage();
  let count = 0;
  do count += await layout.resolve(devices, audience);
  while (performance.now() - startMs < ROUND_MS_MIN);
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - startMs) / 1_000;
  if (count === 0) throw new Error(`${layout.name} found nobody`);
  return {
    devicesPerSecond: count / seconds,
    clientCpuMicros: (user + system) / count,
    redisHeldMs: await redis.heldMsMax(),
  };
}
