/**
 * The tag index in Redis as a node of the engine has it, put together from its parts for tests that
 * look at each of them.
 */

import type { Test } from 'tap';
import { BLOCK_DEVICES, GROUP_BLOCKS, GROUP_DEVICES } from '../../src/domain/device.ts';
import type { GroupKey, RaisedGroup } from '../../src/domain/group-change.ts';
import { groupKeyOf } from '../../src/domain/group-change.ts';
import { systemClock } from '../../src/std/clock.ts';
import { BEFORE_ALL, listGroups } from '../../src/store/index/list-groups.ts';
import { readGroup } from '../../src/store/index/read-group.ts';
import type { Sql, SqlPool } from '../../src/store/sql.ts';
import type { RedisAddress, RedisClient } from '../../src/tag-index/redis/connect.ts';
import { connectRedis } from '../../src/tag-index/redis/connect.ts';
import { RedisFeed } from '../../src/tag-index/redis/feed.ts';
import { Gate } from '../../src/tag-index/redis/gate.ts';
import { IndexName } from '../../src/tag-index/redis/index-name.ts';
import { leaveIfBehind } from '../../src/tag-index/redis/leave-if-behind.ts';
import { RedisTagIndex } from '../../src/tag-index/redis/redis-tag-index.ts';
import { Repairs } from '../../src/tag-index/redis/repairs.ts';
import { SqlTagIndex } from '../../src/tag-index/sql/sql-tag-index.ts';
import type { TagIndex } from '../../src/tag-index/tag-index.ts';
import { silent } from './app-api.ts';

export interface NodeIndex {
  readonly client: RedisClient;
  readonly name: IndexName;
  readonly gate: Gate;
  readonly feed: RedisFeed;
  readonly repairs: Repairs;
  /** Answers from Redis alone: where the engine would ask the database it rejects. */
  readonly index: TagIndex;
  /** Groups that a change did not reach, so far. */
  readonly missed: () => number;
}

/** Connects a node's index. */
export async function openNodeIndex(
  t: Test,
  sql: SqlPool,
  address: RedisAddress,
): Promise<NodeIndex> {
  const client = connectRedis(address, () => undefined);
  t.teardown(() => client.disconnect());
  await new Promise((resolve) => client.once('ready', resolve));
  const clock = systemClock;
  const name = await IndexName.read(sql, clock);
  const gate = new Gate({ clock, onChange: () => undefined, onRefusal: () => undefined });
  const repairs = new Repairs({ client, name, gate, sql, log: silent });
  t.teardown(() => repairs.stop());
  let missed = 0;
  const onMissed = (groups: readonly GroupKey[]): void => {
    missed += groups.length;
    repairs.ask(groups);
  };
  const feed = new RedisFeed({
    client,
    name,
    gate,
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
    recheck: (scope, ordinals, audience) => truth.recheck(scope, ordinals, audience),
  };
  const index = new RedisTagIndex({ client, name, gate, sql, database, clock });
  return { client, name, gate, feed, repairs, index, missed: () => missed };
}

/** The groups, of an app or of all, whose version in Redis is not the database's. */
export async function staleGroups(
  sql: Sql,
  client: RedisClient,
  indexName: string,
  appId: number | null = null,
): Promise<readonly RaisedGroup[]> {
  const all = await listGroups(sql, BEFORE_ALL, 10_000);
  const groups = all.filter((group) => appId === null || group.appId === appId);
  const versions = await Promise.all(
    groups.map((group) => client.hget(hashKeyOf(indexName, group), 'v')),
  );
  return groups.filter((group, at) => Number(versions[at] ?? 0) !== group.version);
}

/**
 * What differs between the database and what lies in Redis, in words. Written apart from the
 * engine's own reading of it, so that both would have to be wrong. Nobody may change anything
 * meanwhile.
 */
export async function indexDifferences(
  sql: Sql,
  client: RedisClient,
  indexName: string,
): Promise<readonly string[]> {
  const differences: string[] = [];
  for (const group of await listGroups(sql, BEFORE_ALL, 10_000)) {
    const wanted = await wantedOf(sql, group);
    const stored = await storedOf(client, hashKeyOf(indexName, group));
    for (const line of new Set([...wanted, ...stored])) {
      if (wanted.has(line) && stored.has(line)) continue;
      differences.push(`${groupKeyOf(group)}: ${wanted.has(line) ? 'lacks' : 'has'} ${line}`);
    }
  }
  return differences;
}

const hashKeyOf = (indexName: string, group: GroupKey): string =>
  `tagcast:${indexName}:{${groupKeyOf(group)}}`;

/** Lines as `token 7 abc`, `tag 12 7`, `note 7 2 sandbox`. */
async function wantedOf(sql: Sql, group: RaisedGroup): Promise<ReadonlySet<string>> {
  const { version, offsets, deviceIds, notes, tags } = await readGroup(sql, group);
  return new Set([
    `version ${version}`,
    ...offsets.map((offset, at) => `token ${offset} ${deviceIds[at]}`),
    ...notes.map(
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
