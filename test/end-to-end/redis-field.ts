/**
 * Real engines on a PostgreSQL and a Redis, devices that come and go through them, and what has to
 * hold after every fault of Redis: what was answered is in the database, a send reaches exactly
 * those who are subscribed there, and the index becomes whole again.
 */

import type { Test } from 'tap';
import type { SqlPool } from '../../src/database/sql.ts';
import { connect } from '../../src/database/sql.ts';
import { GROUP_DEVICES } from '../../src/domain/device.ts';
import type { RedisAddress } from '../../src/tag-index/redis/connect.ts';
import { post } from '../support/client.ts';
import { until } from '../support/poll.ts';
import type { EngineProcess } from '../support/processes.ts';
import { seedDevices } from '../support/seed.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { PLATFORMS, QUICK_MS, sendsExactly, subscribedTo } from './exact-send.ts';
import { RedisWatch } from './redis-watch.ts';
import type { Scene } from './scene.ts';
import { setScene } from './scene.ts';

/**
 * More than an engine sends at a time, so that some wait while something happens to the others; and
 * so few that compaction, which leaves the newest sixteen, finds too few others to move.
 */
const GROUPS = 20;
const GROUP_TOKENS = 100;
/**
 * No device of the last groups has the tag at first: they are left out of plans until one comes.
 */
const GROUPS_VACANT = 4;
const FCM_DEVICES = 200;

const ENVIRONMENT = { WORKERS: '1', REGISTRATIONS_PER_SECOND_MAX: '100000' };

export class Field {
  readonly scene: Scene;
  readonly watch: RedisWatch;
  readonly #t: Test;
  readonly #redis: Readonly<Record<string, string>>;
  #sql: SqlPool;
  /** Whether a device that somebody asked something for is subscribed: of APNs, by token. */
  readonly #answered = new Map<string, boolean>();
  #turn = 0;
  #fresh = 0;

  static async open(t: Test, url: string, address: RedisAddress): Promise<Field> {
    const scene = await setScene(t, url, {
      simulatorFlags: [`--latency-ms=${QUICK_MS}`],
      apnsDevices: 0,
      fcmDevices: FCM_DEVICES,
    });
    const field = new Field(t, scene, url, address);
    await field.#seed();
    return field;
  }

  private constructor(t: Test, scene: Scene, url: string, address: RedisAddress) {
    this.#t = t;
    this.scene = scene;
    this.#sql = connect({ kind: 'postgres', url }, 2);
    this.watch = new RedisWatch(t, address, () => this.#sql);
    this.#redis =
      address.kind === 'single'
        ? { REDIS_URL: address.url }
        : { REDIS_CLUSTER: address.urls.join(',') };
    t.teardown(() => this.#sql.end());
  }

  get sql(): SqlPool {
    return this.#sql;
  }

  /** Starts an engine of its own directory. */
  start(environment: Readonly<Record<string, string>> = {}): Promise<EngineProcess> {
    const all = { ...ENVIRONMENT, ...this.#redis, ...environment };
    return this.scene.start(all, temporaryDirectory(this.#t));
  }

  /**
   * Changes `count` known devices of all groups and makes as many new ones, through the engines at
   * once. All are answered OK.
   */
  async change(engines: readonly EngineProcess[], count: number): Promise<void> {
    const from = this.#turn;
    this.#turn += count;
    const known = Array.from({ length: count }, (_, n) => tokenAt(from + n));
    const subscribed = await this.#subscribed();
    const wishes = [
      ...known.map((token) => ({ token, joins: !subscribed.has(token) })),
      ...Array.from({ length: count }, () => ({ token: this.freshToken(), joins: true })),
    ];
    await Promise.all(
      wishes.map(({ token, joins }, at) => {
        const engine = engines[at % engines.length];
        if (engine === undefined) throw new Error('there is no engine');
        return this.ask(engine, joins ? 'reg' : 'ureg', token);
      }),
    );
  }

  /** Two devices of one group. */
  neighbours(): readonly [string, string] {
    const from = this.#turn;
    this.#turn += GROUPS + 1;
    return [tokenAt(from), tokenAt(from + GROUPS)];
  }

  /** A known device comes that was not there, or goes. */
  async toggle(engine: EngineProcess, token: string): Promise<void> {
    await this.ask(engine, (await this.isSubscribed(token)) ? 'ureg' : 'reg', token);
  }

  freshToken(): string {
    this.#fresh += 1;
    return `f${String(this.#fresh).padStart(63, '0')}`;
  }

  /** A device comes or goes; it is answered OK, and from then on has to be where it is. */
  async ask(engine: EngineProcess, endpoint: 'reg' | 'ureg', deviceId: string): Promise<void> {
    const { demo, tagId } = this.scene;
    const device = { appId: demo.appId, platformId: PLATFORMS.apns, tagId, deviceId };
    const url = `${engine.baseUrl}/push-api/${endpoint}`;
    const answer = await (await post(url, demo.apiUser.token, device)).text();
    if (answer !== 'OK') throw new Error(`answered ${answer}`);
    this.#answered.set(deviceId, endpoint === 'reg');
  }

  async isSubscribed(deviceId: string): Promise<boolean> {
    return (await this.#subscribed()).has(deviceId);
  }

  /** Sends to the tag, does something in the middle, and looks who got it. */
  sendsExactly(
    t: Test,
    engine: EngineProcess,
    what: string,
    meanwhile?: () => Promise<void>,
  ): Promise<void> {
    return sendsExactly(t, { scene: this.scene, sql: this.#sql, engine, what }, meanwhile);
  }

  /**
   * Sends while the index is older than the database and is not repaired (`RedisWatch.hold`): every
   * recipient was found in the database.
   */
  async sendsWhileBehind(t: Test, engine: EngineProcess, what: string): Promise<void> {
    const before = await this.watch.stale();
    t.ok(before.length > 0, `${what}: ${before.length} groups are behind`);
    await this.sendsExactly(t, engine, what);
    t.same(await this.watch.stale(), before, `${what}: and still are`);
  }

  /** Changes that were answered are in the database. */
  async isDurable(t: Test, what: string): Promise<void> {
    const subscribed = await this.#subscribed();
    const lost = [...this.#answered].filter(([token, joins]) => subscribed.has(token) !== joins);
    t.same(lost.slice(0, 5), [], `${what}: all of ${this.#answered.size} answered are there`);
  }

  /**
   * Changes that were answered are there, the index is repaired by itself, and it alone answers a
   * send.
   */
  async isWhole(t: Test, engine: EngineProcess, what: string): Promise<void> {
    await this.isDurable(t, what);
    await this.watch.isRepaired(t, what);
    await until(`${what}: all groups are sent from Redis`, async () => {
      const before = await this.watch.tokenReads();
      await this.sendsExactly(t, engine, what);
      if (!t.passing()) return true;
      return (await this.watch.tokenReads()) - before > GROUPS - GROUPS_VACANT ? true : null;
    });
  }

  /**
   * From now on another database is looked at, or this one after it went back: earlier answers do
   * not count.
   */
  async turnTo(url: string): Promise<void> {
    await this.#sql.end();
    this.#sql = connect({ kind: 'postgres', url }, 2);
    this.#answered.clear();
  }

  async #seed(): Promise<void> {
    const { appId } = this.scene.demo;
    for (let group = 0; group < GROUPS; group += 1) {
      await this.#sql`
        update app_platforms set next_ordinal = ${group * GROUP_DEVICES}
        where app_id = ${appId} and platform_id = ${PLATFORMS.apns}`;
      await seedDevices(this.#sql, {
        appId,
        platformId: PLATFORMS.apns,
        tagIds: group < GROUPS - GROUPS_VACANT ? [this.scene.tagId] : [],
        count: GROUP_TOKENS,
        deviceIds: TOKENS.filter((_, at) => at % GROUPS === group),
      });
    }
    await this.#sql.unsafe('analyze');
  }

  #subscribed(): Promise<ReadonlySet<string>> {
    return subscribedTo(this.#sql, this.scene, 'apns');
  }
}

/** The seeded devices: of each group one, then of each another one. */
const TOKENS = Array.from(
  { length: GROUPS * GROUP_TOKENS },
  (_, at) => `a${at.toString(16).padStart(63, '0')}`,
);

const tokenAt = (at: number): string => TOKENS[at % TOKENS.length] ?? '';
