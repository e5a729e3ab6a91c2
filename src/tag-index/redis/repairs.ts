/** Repairs groups in the background, from the database; one node at a time repairs a group. */

import type { Logger } from 'pino';
import type { Sql } from '../../database/sql.ts';
import type { DeviceGroupKey } from '../../domain/device-group-change.ts';
import { deviceGroupKeyOf } from '../../domain/device-group-change.ts';
import { readDeviceGroup } from '../groups/read-device-group.ts';
import type { RedisClient } from './connect.ts';
import type { IndexName } from './index-name.ts';
import { groupHashKey } from './keys.ts';
import { writeGroup } from './load-group.ts';
import type { RedisBreaker } from './redis-breaker.ts';

/** @limit groups that wait to be repaired → found again by the next sweep */
const WAITING_MAX = 10_000;
/**
 * While the database reads one, Redis takes another.
 * @limit groups repaired at once, per node → they wait
 */
const AT_ONCE = 2;
/** A repair takes some 50 ms; a node that holds a group for longer has died. */
const CLAIM_MS = 10_000;

interface RepairsOptions {
  readonly client: RedisClient;
  readonly name: IndexName;
  readonly breaker: RedisBreaker;
  readonly sql: Sql;
  readonly log: Logger;
}

export class Repairs {
  readonly #options: RepairsOptions;
  readonly #waiting = new Map<string, DeviceGroupKey>();
  readonly #underWay = new Set<Promise<void>>();
  #isStopping = false;
  #repaired = 0;

  constructor(options: RepairsOptions) {
    this.#options = options;
  }

  get repaired(): number {
    return this.#repaired;
  }

  get pending(): number {
    return this.#waiting.size + this.#underWay.size;
  }

  ask(groups: readonly DeviceGroupKey[]): void {
    for (const group of groups) {
      if (this.#waiting.size >= WAITING_MAX) break;
      this.#waiting.set(deviceGroupKeyOf(group), group);
    }
    this.#pump();
  }

  /** Resolves when the repairs under way have ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#underWay);
  }

  #pump(): void {
    while (!this.#isStopping && this.#underWay.size < AT_ONCE) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      const [key, group] = next;
      this.#waiting.delete(key);
      const work = this.#repair(group).catch((error: unknown) =>
        this.#options.log.warn(
          { err: error, group: key },
          'a group of the index could not be repaired; it will be tried again',
        ),
      );
      this.#underWay.add(work);
      void work.then(() => {
        this.#underWay.delete(work);
        this.#pump();
      });
    }
  }

  async #repair(group: DeviceGroupKey): Promise<void> {
    const { client, name, breaker, sql } = this.#options;
    const indexName = name.current;
    const claimKey = `${groupHashKey(indexName, group)}:repairing`;
    const claimed = await breaker.run(() => client.set(claimKey, '1', 'PX', CLAIM_MS, 'NX'));
    if (claimed === null) return;
    try {
      // Outside of the breaker, which must not count a fault of the database against Redis.
      const content = await readDeviceGroup(sql, group);
      const version = await breaker.run(() =>
        writeGroup(client, indexName, group, content, { isForced: false }),
      );
      if (version !== null) this.#repaired += 1;
    } finally {
      await breaker.run(() => client.del(claimKey));
    }
  }
}
