/** Checks on every master that the settings of Redis make the index right and small. */

import type { Redis } from 'ioredis';
import { Cluster } from 'ioredis';
import type { RedisClient } from './connect.ts';

/** SET takes NX and GET together since 7.0. */
const MAJOR_VERSION_MIN = 7;
/** Redis would search longer lists from their beginning for each tag. */
const LISTPACK_ENTRIES_MAX = 512;
const LISTPACK_VALUE_MAX = 512;

interface SettingsFaults {
  /** With these the index would be wrong: sentences for the operator. */
  readonly fatal: readonly string[];
  /** With these it would be slow. */
  readonly costly: readonly string[];
}

/** Asks every master; one that does not answer is reported as costly: the start goes on. */
export async function checkSettings(client: RedisClient): Promise<SettingsFaults> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client as Redis];
  const faults = await Promise.all(
    nodes.map((node) =>
      checkNode(node).catch((error: Error) => ({
        fatal: [],
        costly: [`${nameOf(node)} cannot be asked for its settings: ${error.message}`],
      })),
    ),
  );
  return {
    fatal: [...new Set(faults.flatMap(({ fatal }) => fatal))],
    costly: [...new Set(faults.flatMap(({ costly }) => costly))],
  };
}

async function checkNode(node: Redis): Promise<SettingsFaults> {
  // INFO, because managed services have no CONFIG.
  const facts = parseInfo(await node.info('server', 'memory'));
  const version = facts.get('redis_version') ?? '0';
  const policy = facts.get('maxmemory_policy') ?? 'unknown';
  const where = nameOf(node);
  const fatal: string[] = [];
  if (Number.parseInt(version, 10) < MAJOR_VERSION_MIN) {
    fatal.push(
      `${where} is version ${version}; the tag index needs ${MAJOR_VERSION_MIN}.0 or later.`,
    );
  }
  if (policy !== 'noeviction') {
    fatal.push(
      `${where} has maxmemory-policy ${policy}, which would evict parts of the tag index unnoticed; set "maxmemory-policy noeviction" (config/redis.conf).`,
    );
  }
  return { fatal, costly: await checkEncodings(node, where) };
}

const nameOf = ({ options }: Redis): string => `Redis at ${options.host}:${options.port}`;

async function checkEncodings(node: Redis, where: string): Promise<readonly string[]> {
  const limits: readonly (readonly [string, number])[] = [
    ['hash-max-listpack-entries', LISTPACK_ENTRIES_MAX],
    ['hash-max-listpack-value', LISTPACK_VALUE_MAX],
  ];
  try {
    const answer = (await node.config('GET', 'hash-max-listpack-*')) as readonly string[];
    return limits.flatMap(([name, max]) => {
      const value = Number(answer[answer.indexOf(name) + 1]);
      return value > max
        ? [
            `${where} has ${name} ${value}; above ${max} it searches tags slowly (config/redis.conf).`,
          ]
        : [];
    });
  } catch {
    return [];
  }
}

const parseInfo = (info: string): ReadonlyMap<string, string> =>
  new Map(
    info.split('\r\n').flatMap((line) => {
      const colon = line.indexOf(':');
      return colon === -1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)] as const];
    }),
  );
