/**
 * A mix as real apps have it: a hundred tags from very popular to rare, twenty of them on each of a
 * million devices.
 */

import type { Lifetime } from '../../../test/support/lifetime.ts';
import type { Row } from '../../scenario.ts';
import { audienceOf, figuresOf, heldMax } from './densities.ts';
import { openLayout } from './layouts.ts';
import { randomOf } from './population.ts';
import { startMeasuredRedis } from './redis.ts';
import { resolveInTurns } from './resolving.ts';

const DEVICES = 1_000_000;
const TAGS = 100;
const TAGS_PER_DEVICE = 20;
const SEED = 7;

export async function measureMix(stage: Lifetime) {
  const subscribers = makeSubscribers();
  const subscriptions = [...subscribers.values()].reduce((sum, list) => sum + list.length, 0);
  const entrants = [];
  const rows: Row[] = [];
  const octets: number[] = [];
  for (const name of ['ours', 'set of tokens'] as const) {
    const redis = await startMeasuredRedis(stage);
    const layout = await openLayout(stage, name, redis.url);
    const before = await redis.memoryOctets();
    await layout.fillTags(DEVICES, subscribers);
    octets.push((await redis.memoryOctets()) - before);
    entrants.push({ redis, layout });
  }
  for (const tagId of [1, TAGS / 2, TAGS]) {
    const resolved = await resolveInTurns(entrants, DEVICES, audienceOf(tagId));
    for (const [place, { layout }] of entrants.entries()) {
      rows.push({
        layout: layout.name,
        audience: `mix, tag ${tagId}: ${((subscribers.get(tagId)?.length ?? 0) / DEVICES) * 100} %`,
        bytesPerSubscription: (octets[place] ?? 0) / subscriptions,
        bytesPerDevice: (octets[place] ?? 0) / DEVICES,
        ...figuresOf(resolved[place]),
      });
    }
  }
  const [ours = Number.NaN, plain = Number.NaN] = octets;
  return {
    rows,
    figures: { memoryUnderPlainTokenSet: plain / ours },
    redisHeldMsMax: heldMax(rows),
  };
}

/** Each device draws different tags, tag n with a chance of 1 / n (Zipf). */
function makeSubscribers(): ReadonlyMap<number, readonly number[]> {
  const random = randomOf(SEED);
  const bounds: number[] = [];
  let sum = 0;
  for (let tagId = 1; tagId <= TAGS; tagId += 1) {
    sum += 1 / tagId;
    bounds.push(sum);
  }
  const subscribers = new Map<number, number[]>();
  for (let tagId = 1; tagId <= TAGS; tagId += 1) subscribers.set(tagId, []);
  const own = new Set<number>();
  for (let ordinal = 0; ordinal < DEVICES; ordinal += 1) {
    own.clear();
    while (own.size < TAGS_PER_DEVICE) own.add(1 + firstAbove(bounds, random() * sum));
    for (const tagId of own) subscribers.get(tagId)?.push(ordinal);
  }
  return subscribers;
}

/** The place of the first bound above a value. */
function firstAbove(bounds: readonly number[], value: number): number {
  let low = 0;
  let high = bounds.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((bounds[middle] ?? 0) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
