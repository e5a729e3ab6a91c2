/** Checks the Redis of the tag index: that it answers, its settings and its memory. */

import type { Redis } from 'ioredis';
import { Cluster } from 'ioredis';
import type { RedisAddress, RedisClient } from '../tag-index/redis/connect.ts';
import { connectWhole } from '../tag-index/redis/connect.ts';
import { checkSettings } from '../tag-index/redis/settings-check.ts';
import { checkClock } from './clock.ts';
import type { Finding } from './finding.ts';
import { findingsAbout } from './finding.ts';

const { ok, warning, problem } = findingsAbout('Redis');

/** Share of maxmemory. Above it a rebuild, or the next million devices, may not fit. */
const MEMORY_SHARE_MAX = 0.8;

export async function checkRedis(address: RedisAddress): Promise<readonly Finding[]> {
  const client = await connectWhole(address);
  if (typeof client === 'string') {
    return [problem(`${client} Start it, or correct the address; sends are slower meanwhile.`)];
  }
  try {
    const { fatal, costly } = await checkSettings(client);
    const perNode = await Promise.all(mastersOf(client).map(checkNode));
    return [
      ok('it answers'),
      ...fatal.map(problem),
      ...costly.map(warning),
      ...(fatal.length + costly.length === 0 ? [ok('version and settings are as needed')] : []),
      ...perNode.flat(),
    ];
  } catch (error) {
    return [problem(`it does not answer as it should: ${(error as Error).message}.`)];
  } finally {
    client.disconnect();
  }
}

const mastersOf = (client: RedisClient): readonly Redis[] =>
  client instanceof Cluster ? client.nodes('master') : [client as Redis];

async function checkNode(node: Redis): Promise<readonly Finding[]> {
  const { host, port } = node.options;
  const where = `Redis at ${host}:${port}`;
  const facts = await node.info('memory', 'persistence');
  return [
    checkMemory(where, facts),
    ...checkPersistence(where, facts),
    await checkClock(where, async () => {
      const [seconds, microseconds] = await node.time();
      return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    }),
  ];
}

function checkMemory(where: string, facts: string): Finding {
  const used = numberIn(facts, 'used_memory');
  const max = numberIn(facts, 'maxmemory');
  const mib = (bytes: number) => `${Math.round(bytes / 1_048_576)} MiB`;
  if (max === 0) return ok(`${where} uses ${mib(used)}, without a maxmemory`);
  const sentence = `${where} uses ${mib(used)} of maxmemory ${mib(max)}`;
  return used / max > MEMORY_SHARE_MAX
    ? warning(
        `${sentence}: raise it, or the index stops taking changes and sends go on from PostgreSQL.`,
      )
    : ok(sentence);
}

const SAVE_FAILED = /^rdb_last_bgsave_status:err/m;

/** It needs none: a fork copies memory, and the index is proven by versions anyway. */
function checkPersistence(where: string, facts: string): readonly Finding[] {
  const hasLog = numberIn(facts, 'aof_enabled') === 1;
  const isSaveFailing = SAVE_FAILED.test(facts);
  return [
    ...(hasLog
      ? [
          warning(
            `${where} keeps a log (appendonly yes), which the index does not need and which costs memory and disk: config/redis.conf turns it off.`,
          ),
        ]
      : []),
    ...(isSaveFailing
      ? [
          problem(
            `${where} could not save its snapshot, and may refuse writes: turn snapshots off (save ""), as config/redis.conf does.`,
          ),
        ]
      : []),
  ];
}

const numberIn = (facts: string, name: string): number =>
  Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(facts)?.[1] ?? 0);
