/**
 * The tag index in Redis as a node of the engine has it, put together from its parts for tests that
 * look at each of them.
 */

import { Cluster } from 'ioredis';
import type { Test } from 'tap';
import type { Sql, SqlPool } from '../../src/database/sql.ts';
import { BLOCK_DEVICES, GROUP_BLOCKS, GROUP_DEVICES } from '../../src/domain/device.ts';
import type { DeviceGroupKey, RaisedDeviceGroup } from '../../src/domain/device-group-change.ts';
import { deviceGroupKeyOf } from '../../src/domain/device-group-change.ts';
import { systemClock } from '../../src/std/clock.ts';
import { BEFORE_ALL, listDeviceGroups } from '../../src/tag-index/groups/list-device-groups.ts';
import { readDeviceGroup } from '../../src/tag-index/groups/read-device-group.ts';
import type { RedisAddress, RedisClient } from '../../src/tag-index/redis/connect.ts';
import { connectRedis } from '../../src/tag-index/redis/connect.ts';
import { RedisFeed } from '../../src/tag-index/redis/feed.ts';
import { IndexName } from '../../src/tag-index/redis/index-name.ts';
import { leaveIfBehind } from '../../src/tag-index/redis/leave-if-behind.ts';
import { RedisBreaker } from '../../src/tag-index/redis/redis-breaker.ts';
import { RedisTagIndex } from '../../src/tag-index/redis/redis-tag-index.ts';
import { Repairs } from '../../src/tag-index/redis/repairs.ts';
import { SqlTagIndex } from '../../src/tag-index/sql/sql-tag-index.ts';
import type { TagIndex } from '../../src/tag-index/tag-index.ts';
import { silent } from './app-api.ts';

const COMMAND_MS_MAX = 60_000;

export interface NodeIndex {
  readonly client: RedisClient;
  readonly name: IndexName;
  readonly breaker: RedisBreaker;
  readonly feed: RedisFeed;
  readonly repairs: Repairs;
  /** Answers from Redis alone: where the engine would ask the database it rejects. */
  readonly index: TagIndex;
  /** Groups that a change did not reach, so far. */
  readonly missed: () => number;
}

/**
 * A client for tests that look at answers: a busy machine may take longer for one than an engine
 * waits.
 */
export async function connectPatiently(
  t: Test,
  address: RedisAddress,
  onError: (error: Error) => void = () => undefined,
): Promise<RedisClient> {
  const client = connectRedis(address, onError);
  t.teardown(() => client.disconnect());
  await new Promise((resolve) => client.once('ready', resolve));
  for (const { options } of client instanceof Cluster ? client.nodes() : [client]) {
    options.commandTimeout = COMMAND_MS_MAX;
  }
  return client;
}

/** Connects a node's index. */
export async function openNodeIndex(
  t: Test,
  sql: SqlPool,
  address: RedisAddress,
): Promise<NodeIndex> {
  const client = await connectPatiently(t, address);
  const clock = systemClock;
  const name = await IndexName.read(sql, clock);
  const breaker = new RedisBreaker({
    clock,
    onChange: () => undefined,
    onRefusal: () => undefined,
  });
  const repairs = new Repairs({ client, name, breaker, sql, log: silent });
  t.teardown(() => repairs.stop());
  let missed = 0;
  const onMissed = (groups: readonly DeviceGroupKey[]): void => {
    missed += groups.length;
    repairs.ask(groups);
  };
  const feed = new RedisFeed({
    client,
    name,
    breaker,
    clock,
    onMissed,
    onAhead: async (indexName, seen) => {
      await leaveIfBehind({ name, sql, log: silent }, indexName, seen);
    },
  });
  const truth = new SqlTagIndex(sql);
  const refusal = (): Promise<never> => Promise.reject(new Error('the database was asked'));
  const database: TagIndex = {
    resolve: refusal,
    count: refusal,
    recheck: (...asked) => truth.recheck(...asked),
  };
  const index = new RedisTagIndex({ client, name, breaker, sql, database, clock });
  return { client, name, breaker, feed, repairs, index, missed: () => missed };
}

/** The groups, of an app or of all, whose version in Redis is not the database's. */
export async function staleGroups(
  sql: Sql,
  client: RedisClient,
  indexName: string,
  appId: number | null = null,
): Promise<readonly RaisedDeviceGroup[]> {
  const all = await listDeviceGroups(sql, BEFORE_ALL, 10_000);
  const groups = all.filter((group) => appId === null || group.appId === appId);
  const versions = await Promise.all(
    groups.map((group) => client.hget(hashKeyOf(indexName, group), 'v')),
  );
  return groups.filter((group, at) => Number(versions[at] ?? 0) !== group.version);
}

/**
 * Describes the differences between the database and Redis, in words. Written apart from the
 * engine's own reading of it, so that both would have to be wrong. Nothing may change meanwhile.
 */
export async function indexDifferences(
  sql: Sql,
  client: RedisClient,
  indexName: string,
): Promise<readonly string[]> {
  const differences: string[] = [];
  for (const group of await listDeviceGroups(sql, BEFORE_ALL, 10_000)) {
    const wanted = await wantedOf(sql, group);
    const stored = await storedOf(client, hashKeyOf(indexName, group));
    for (const line of new Set([...wanted, ...stored])) {
      if (wanted.has(line) && stored.has(line)) continue;
      differences.push(`${deviceGroupKeyOf(group)}: ${wanted.has(line) ? 'lacks' : 'has'} ${line}`);
    }
  }
  return differences;
}

const hashKeyOf = (indexName: string, group: DeviceGroupKey): string =>
  `tagcast:${indexName}:{${deviceGroupKeyOf(group)}}`;

/** Lines as `token 7 abc`, `tag 12 7`, `note 7 2 sandbox`. */
async function wantedOf(sql: Sql, group: RaisedDeviceGroup): Promise<ReadonlySet<string>> {
  const { version, offsets, deviceIds, histories, tags } = await readDeviceGroup(sql, group);
  return new Set([
    `version ${version}`,
    ...offsets.map((offset, at) => `token ${offset} ${deviceIds[at]}`),
    ...histories.map(
      ([offset, { refusals, environment }]) => `note ${offset} ${refusals} ${environment}`,
    ),
    ...tags.flatMap(([tagId, list]) =>
      Array.from(
        { length: list.length / 2 },
        (_, at) => `tag ${tagId} ${list.readUInt16BE(at * 2)}`,
      ),
    ),
  ]);
}

async function storedOf(client: RedisClient, hashKey: string): Promise<ReadonlySet<string>> {
  const names = await client.hkeys(hashKey);
  const values = await client.hvalsBuffer(hashKey);
  const lines = names.flatMap((name, at) => linesOf(name, values[at] ?? Buffer.alloc(0)));
  const blocks = await Promise.all(
    Array.from({ length: GROUP_BLOCKS }, (_, block) => client.getBuffer(`${hashKey}:${block}`)),
  );
  for (const [block, octets] of blocks.entries()) {
    if (octets !== null) lines.push(...tokensOf(octets, block * BLOCK_DEVICES));
  }
  return new Set(lines);
}

const ENVIRONMENTS = [null, 'production', 'sandbox'];

function linesOf(name: string, value: Buffer): readonly string[] {
  if (name === 'v') return [`version ${value.toString()}`];
  if (name === 'n') {
    return Array.from({ length: value.length / 4 }, (_, at) => {
      const environment = ENVIRONMENTS[value[at * 4 + 3] ?? 0];
      return `note ${value.readUInt16BE(at * 4)} ${value[at * 4 + 2]} ${environment}`;
    });
  }
  const has = (offset: number): boolean =>
    (((value[Math.floor(offset / 8)] ?? 0) >> (offset % 8)) & 1) === 1;
  const offsets =
    value.length === GROUP_DEVICES / 8
      ? Array.from({ length: GROUP_DEVICES }, (_, offset) => offset).filter(has)
      : Array.from({ length: value.length / 2 }, (_, at) => value.readUInt16BE(at * 2));
  return offsets.map((offset) => `tag ${name} ${offset}`);
}

function tokensOf(octets: Buffer, start: number): readonly string[] {
  const lines: string[] = [];
  let at = 1;
  for (let slot = 0; slot < (octets[0] ?? 0); slot += 1) {
    const size = octets.readUInt16BE(at) % 0x8000;
    const form = octets.readUInt16BE(at) >= 0x8000 ? 'hex' : 'utf8';
    if (size > 0)
      lines.push(`token ${start + slot} ${octets.toString(form, at + 2, at + 2 + size)}`);
    at += 2 + size;
  }
  return lines;
}
