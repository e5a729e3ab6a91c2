/**
 * Reads the same fields of many hashes: on a single server by a script, since a command for each
 * costs the calling thread too much, and a pipeline of ioredis keeps its commands in memory. A
 * cluster needs a command for each hash.
 */

import { Cluster } from 'ioredis';
import type { RedisClient } from './connect.ts';

type Values = readonly (Buffer | null)[];

/**
 * A tag's value has a KiB at most, a group's histories 32: mostly some hundred KiB in all.
 * @limit values of a script that reads many groups → the next script
 */
const VALUES_AT_ONCE = 256;

/** In the order given; values of one hash are of one moment. Rejects when a command fails. */
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

/**
 * Redis serves all its clients one after the other.
 * @limit values of a group that a command reads from Redis → the next command
 */
const FIELDS_AT_ONCE = 4_096;

/**
 * Each hash's version and its other fields, in the order given. Null: the hash changed while it was
 * read in pieces.
 */
export async function readOfOneVersion(
  client: RedisClient,
  hashKeys: readonly string[],
  versionField: string,
  fields: readonly string[],
): Promise<readonly (Values | null)[]> {
  const pieces = [readFields(client, hashKeys, [versionField, ...fields.slice(0, FIELDS_AT_ONCE)])];
  for (let from = FIELDS_AT_ONCE; from < fields.length; from += FIELDS_AT_ONCE) {
    const some = fields.slice(from, from + FIELDS_AT_ONCE);
    pieces.push(readFields(client, hashKeys, [versionField, ...some]));
  }
  const [first = [], ...others] = await Promise.all(pieces);
  if (others.length === 0) return first;
  return first.map((values, at) => {
    const later = others.map((piece) => piece[at] ?? []);
    const isOfOne = later.every(([version]) => isSame(version, values[0]));
    return isOfOne ? [...values, ...later.flatMap((piece) => piece.slice(1))] : null;
  });
}

const isSame = (one: Buffer | null = null, other: Buffer | null = null): boolean =>
  one === null || other === null ? one === other : one.equals(other);
