/**
 * The comparison by which the layout was chosen: groups of three sizes, and for the devices of a
 * tag a set of its own, a list or bitmap in a set's place, or the same in a field of the group's
 * hash. Memory only; decision 32 has its numbers.
 */

import type { Lifetime } from '../../../test/support/lifetime.ts';
import type { Row } from '../../scenario.ts';
import { subscribersOf } from './population.ts';
import type { MeasuredRedis } from './redis.ts';
import { startMeasuredRedis } from './redis.ts';

const DEVICES = 500_000;
const GROUP_SIZES = [4_096, 8_192, 16_384];
const SHARES = [1, 0.1, 0.01, 0.001, 0.0001];
/** Commands on their way at once. */
const AT_ONCE = 500;

type Write = (redis: MeasuredRedis, group: number, offsets: readonly number[]) => Promise<unknown>;

const FORMS: Readonly<Record<string, (groupSize: number) => Write>> = {
  'a set for each group': () => (redis, group, offsets) =>
    redis.client.sadd(`{1.3.${group}}:t1`, ...offsets),
  'a string for each group': (groupSize) => (redis, group, offsets) =>
    redis.client.set(`{1.3.${group}}:t1`, valueFor(groupSize, offsets)),
  'a field of the hash': (groupSize) => (redis, group, offsets) =>
    redis.client.hset(`{1.3.${group}}`, '1', valueFor(groupSize, offsets)),
};

export async function measureForms(stage: Lifetime) {
  const redis = await startMeasuredRedis(stage);
  const rows: Row[] = [];
  for (const [form, writeFor] of Object.entries(FORMS)) {
    for (const groupSize of GROUP_SIZES) {
      const row: Record<string, string | number> = { form, groupSize };
      for (const share of SHARES) {
        await redis.client.flushall();
        // Every group has a hash already: its version, and tags that are not looked at here.
        for (let group = 0; group * groupSize < DEVICES; group += 1) {
          await redis.client.hset(`{1.3.${group}}`, 'v', '1');
        }
        row[`${share * 100} %`] = await octetsOf(redis, writeFor(groupSize), groupSize, share);
      }
      rows.push(row);
    }
  }
  return { rows };
}

async function octetsOf(
  redis: MeasuredRedis,
  write: Write,
  groupSize: number,
  share: number,
): Promise<number> {
  const groups = new Map<number, number[]>();
  let subscriptions = 0;
  for (const ordinal of subscribersOf(DEVICES, share, 1)) {
    const group = Math.floor(ordinal / groupSize);
    const offsets = groups.get(group) ?? [];
    groups.set(group, offsets);
    offsets.push(ordinal % groupSize);
    subscriptions += 1;
  }
  const before = await redis.memoryOctets();
  let waiting: Promise<unknown>[] = [];
  for (const [group, offsets] of groups) {
    waiting.push(write(redis, group, offsets));
    if (waiting.length < AT_ONCE) continue;
    await Promise.all(waiting);
    waiting = [];
  }
  await Promise.all(waiting);
  return ((await redis.memoryOctets()) - before) / subscriptions;
}

/** A list of 16-bit numbers, or a bitmap when that is no longer. */
function valueFor(groupSize: number, offsets: readonly number[]): Buffer {
  const value = Buffer.alloc(Math.min(groupSize / 8, offsets.length * 2));
  if (offsets.length * 2 < groupSize / 8) {
    for (const [at, offset] of offsets.entries()) value.writeUInt16BE(offset, at * 2);
  } else {
    for (const offset of offsets)
      value[offset >>> 3] = (value[offset >>> 3] ?? 0) | (1 << (offset & 7));
  }
  return value;
}
