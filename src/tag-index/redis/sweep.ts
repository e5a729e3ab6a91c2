/**
 * Compares the versions of all groups in Redis with the database, again and again, by one node for
 * all: finds every lost change, and a database that is another one.
 */

import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { SqlPool } from '../../database/sql.ts';
import type { RaisedDeviceGroup } from '../../domain/device-group-change.ts';
import { deviceGroupKeyOf } from '../../domain/device-group-change.ts';
import { Recurring } from '../../std/recurring.ts';
import { keepLineage } from '../groups/lineage.ts';
import { BEFORE_ALL, listDeviceGroups } from '../groups/list-device-groups.ts';
import type { RedisClient } from './connect.ts';
import type { IndexName } from './index-name.ts';
import { groupHashKey, PREFIX, VERSION_FIELD, versionIn } from './keys.ts';
import { leaveIfBehind } from './leave-if-behind.ts';
import { readFields } from './read-fields.ts';
import type { RedisBreaker } from './redis-breaker.ts';
import type { Repairs } from './repairs.ts';

/** @limit between two sweeps */
const INTERVAL_MS = 500;
/**
 * Groups compared in one run: eight million devices, some 10 ms.
 * @limit groups compared with the database in a sweep → the next sweep
 */
const GROUPS_MAX = 1_000;
/** After this time another node takes over. */
const LEASE_MS = 5_000;

interface SweepOptions {
  readonly client: RedisClient;
  readonly name: IndexName;
  readonly breaker: RedisBreaker;
  readonly sql: SqlPool;
  readonly repairs: Repairs;
  readonly log: Logger;
}

export class Sweep {
  readonly #options: SweepOptions;
  readonly #runs = new Recurring(INTERVAL_MS, () => this.#runLogged());
  readonly #holder = randomUUID();
  #after = BEFORE_ALL;
  #hasLooked = false;
  /** Versions that groups lacked in the last comparison: a change may have been on its way. */
  readonly #suspects = new Map<string, number>();

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  /** Resolves after a first run: nothing relies on the index of a restored database. */
  async start(): Promise<void> {
    await this.#runLogged();
    this.#runs.start();
  }

  /** Resolves when the run under way has ended. */
  stop(): Promise<void> {
    return this.#runs.stop();
  }

  async run(): Promise<void> {
    const { sql, name, breaker, repairs, log } = this.#options;
    const { isRenewed } = await keepLineage(sql, { isStarting: false });
    if (isRenewed) {
      log.warn(
        'the database is not the same as before (restored or failed over): the index is rebuilt',
      );
    }
    await name.doubt();
    const holdsLease = await breaker.run(() => this.#holdsLease());
    if (holdsLease === null || (this.#hasLooked && !holdsLease)) return;
    const indexName = name.current;
    const groups = await listDeviceGroups(sql, this.#after, GROUPS_MAX);
    const versions = await breaker.run(() => this.#versionsOf(indexName, groups));
    if (versions === null) return;
    this.#hasLooked = true;
    const ahead = groups.flatMap((group, at) => {
      const version = versions[at] ?? 0;
      return version > group.version ? [{ ...group, version }] : [];
    });
    if (await leaveIfBehind(this.#options, indexName, ahead)) return;
    this.#after = groups.length < GROUPS_MAX ? BEFORE_ALL : (groups.at(-1) ?? BEFORE_ALL);
    repairs.ask(groups.filter((group, at) => this.#isStale(group, versions[at] ?? 0)));
  }

  #isStale(group: RaisedDeviceGroup, version: number): boolean {
    const key = deviceGroupKeyOf(group);
    if (version >= group.version) {
      this.#suspects.delete(key);
      return false;
    }
    const lacked = this.#suspects.get(key);
    this.#suspects.set(key, group.version);
    return version === 0 || (lacked !== undefined && version < lacked);
  }

  async #versionsOf(
    indexName: string,
    groups: readonly RaisedDeviceGroup[],
  ): Promise<readonly number[]> {
    const hashKeys = groups.map((group) => groupHashKey(indexName, group));
    const answers = await readFields(this.#options.client, hashKeys, [VERSION_FIELD]);
    return answers.map(([version = null]) => (version === null ? 0 : versionIn(version)));
  }

  /** Takes the lease, or prolongs it while this node holds it. */
  async #holdsLease(): Promise<boolean> {
    const { client, name } = this.#options;
    const key = `${PREFIX}${name.current}:sweeper`;
    const holder = await client.set(key, this.#holder, 'PX', LEASE_MS, 'NX', 'GET');
    if (holder === null) return true;
    if (holder !== this.#holder) return false;
    await client.pexpire(key, LEASE_MS);
    return true;
  }

  async #runLogged(): Promise<void> {
    try {
      await this.run();
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the index could not be compared with the database');
    }
  }
}
