/**
 * The same fields of many hashes. To a single server they go in one write: a thousand writes cost more than the answers do. A
 * cluster's keys are on its nodes, each of which is asked by itself.
 */

import type { Redis } from 'ioredis';
import { Cluster } from 'ioredis';
import type { RedisClient } from './connect.ts';

type Values = readonly (Buffer | null)[];

/** By hash and field, in the order asked. Rejects when one of the answers is none. */
export async function readFields(
  client: RedisClient,
  hashKeys: readonly string[],
  fields: readonly string[],
): Promise<readonly Values[]> {
  if (client instanceof Cluster || hashKeys.length === 1) {
    return Promise.all(hashKeys.map((key) => client.hmgetBuffer(key, ...fields)));
  }
  const pipeline = (client as Redis).pipeline();
  for (const key of hashKeys) pipeline.hmgetBuffer(key, ...fields);
  const answers = (await pipeline.exec()) ?? [];
  return answers.map(([error, values]) => {
    if (error !== null) throw error;
    return values as Values;
  });
}
