/**
 * Looks into the Redis of the fault tests beside the engines: what is behind, who answered; and
 * keeps engines from repairing for a while.
 */

import { Cluster } from 'ioredis';
import type { Test } from 'tap';
import type { SqlPool } from '../../src/database/sql.ts';
import { deviceGroupKeyOf } from '../../src/domain/device-group-change.ts';
import { readLineage } from '../../src/tag-index/groups/lineage.ts';
import { BEFORE_ALL, listDeviceGroups } from '../../src/tag-index/groups/list-device-groups.ts';
import type { RedisAddress, RedisClient } from '../../src/tag-index/redis/connect.ts';
import { connectRedis } from '../../src/tag-index/redis/connect.ts';
import { until } from '../support/poll.ts';
import { indexDifferences, staleGroups } from '../support/redis-index.ts';

const GROUPS_MAX = 1_000;
/** Longer than any test holds it. */
const HOLD_MS = 300_000;
const LIMIT_MS = 60_000;

export class RedisWatch {
  readonly #client: RedisClient;
  readonly #sql: () => SqlPool;
  #held: readonly string[] = [];

  constructor(t: Test, address: RedisAddress, sql: () => SqlPool) {
    this.#client = connectRedis(address, () => undefined);
    this.#sql = sql;
    t.teardown(() => this.#client.disconnect());
  }

  /** The groups whose version is not the database's. */
  async stale(): Promise<readonly string[]> {
    const { name } = await readLineage(this.#sql());
    return (await reached(() => staleGroups(this.#sql(), this.#client, name))).map(
      deviceGroupKeyOf,
    );
  }

  /**
   * From now on no engine repairs a group that there is: another one is at it, as far as it can see
   * (repairs.ts).
   */
  async hold(): Promise<void> {
    const { name } = await readLineage(this.#sql());
    const groups = await listDeviceGroups(this.#sql(), BEFORE_ALL, GROUPS_MAX);
    this.#held = groups.map((group) => `tagcast:${name}:{${deviceGroupKeyOf(group)}}:repairing`);
    await reached(() =>
      Promise.all(this.#held.map((key) => this.#client.set(key, '1', 'PX', HOLD_MS))),
    );
  }

  /** FLUSHALL of a single server, which loses everything but what `hold` keeps there. */
  async flushButHeld(): Promise<void> {
    if (this.#client instanceof Cluster) throw new Error('each of its nodes would be another step');
    const steps = this.#client.multi().flushall();
    for (const key of this.#held) steps.set(key, '1', 'PX', HOLD_MS);
    await steps.exec();
  }

  async letRepair(): Promise<void> {
    await reached(() => Promise.all(this.#held.map((key) => this.#client.del(key))));
    this.#held = [];
  }

  /**
   * The engines repair the index in the background: each group is current, and holds what the
   * database holds.
   */
  async isRepaired(t: Test, what: string): Promise<void> {
    await until(
      `${what}: the index is repaired`,
      async () => ((await this.stale()).length === 0 ? true : null),
      LIMIT_MS,
    );
    await this.isRight(t, what);
  }

  /** Its content is that of the database. */
  async isRight(t: Test, what: string): Promise<void> {
    const { name } = await readLineage(this.#sql());
    const differences = await indexDifferences(this.#sql(), this.#client, name);
    t.same(differences.slice(0, 5), [], `${what}: the index holds what the database holds`);
  }

  /** How often Redis was asked for tokens: once or more for each group that is sent from it. */
  async tokenReads(): Promise<number> {
    const nodes = this.#client instanceof Cluster ? this.#client.nodes('master') : [this.#client];
    const counts = await Promise.all(
      nodes.map(async (node) => {
        const info = await node.info('commandstats').catch(() => '');
        return Number(/^cmdstat_mget:calls=(\d+)/m.exec(info)?.[1] ?? 0);
      }),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }
}

/** The server's answer, as soon as it can be reached again. */
const reached = <T>(ask: () => Promise<T>): Promise<T> =>
  until('Redis is reached', async () => (await ask().catch(() => null)) ?? null, LIMIT_MS);
