/**
 * Reads the same fields of many hashes. A single server answers for many of them at once, by a
 * script: a command for each would cost the calling thread more than all later work. (A pipeline of
 * ioredis saves the writes, but its hidden class keeps it alive until the next full collection,
 * with all of its commands.) The keys of a cluster are on several nodes: there a command reads one
 * hash.
 */

import { Cluster } from 'ioredis';
import type { RedisClient } from './connect.ts';

type Values = readonly (Buffer | null)[];

/**
 * Values that one script reads. A tag's value has a kibioctet at most, and a group's histories 32
 * if all of its devices have one: so Redis answers with three megaoctets at the very most, and
 * mostly with some hundred kilooctets.
 * @limit values of a script that reads many groups → the next script
 */
const VALUES_AT_ONCE = 256;

/**
 * Answers values by hash and field, in the order given. Those of one hash are of one moment.
 * Rejects when one of the commands fails.
 */
export async function readFields(
  client: RedisClient,
  hashKeys: readonly string[],
  fields: readonly string[],
): Promise<readonly Values[]> {
  const atOnce = client instanceof Cluster ? 1 : Math.floor(VALUES_AT_ONCE / fields.length);
  if (atOnce <= 1 || hashKeys.length === 1) {
    return Promise.all(hashKeys.map((key) => client.hmgetBuffer(key, ...fields)));
  }
  const answers: Promise<readonly Values[]>[] = [];
  for (let from = 0; from < hashKeys.length; from += atOnce) {
    const some = hashKeys.slice(from, from + atOnce);
    answers.push(client.readFieldsBuffer(some.length, ...some, ...fields));
  }
  return (await Promise.all(answers)).flat();
}
