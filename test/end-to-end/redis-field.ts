/**
 * Real engines on a PostgreSQL and a Redis, devices that come and go through them, and what has to hold after every fault of Redis:
 * what was answered is in the database, a send reaches exactly those who are subscribed there, and the index becomes whole again.
 */

import type { Test } from 'tap';
import { readLineage } from '../../src/store/index/lineage.ts';
import type { SqlPool } from '../../src/store/sql.ts';
import { connect } from '../../src/store/sql.ts';
import type { RedisAddress, RedisClient } from '../../src/tag-index/redis/connect.ts';
import { connectRedis } from '../../src/tag-index/redis/connect.ts';
import { accepted, deliveries, finalStatus, post, push, sumCloses } from '../support/client.ts';
import { until } from '../support/poll.ts';
import type { EngineProcess } from '../support/processes.ts';
import { indexDifferences, staleGroups } from '../support/redis-index.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import type { Scene } from './scene.ts';
import { setScene } from './scene.ts';

/** Three groups, so that one worker is still at the first while something happens to the others. */
const APNS_DEVICES = 20_000;
const FCM_DEVICES = 500;
const LATENCY_MS = 50;
const PLATFORMS = { apns: 3, fcm: 15 } as const;
const LIMIT_MS = 120_000;

const ENVIRONMENT = { WORKERS: '1', REGISTRATIONS_PER_SECOND_MAX: '100000' };

export class Field {
  readonly scene: Scene;
  readonly #t: Test;
  readonly #url: string;
  #sql: SqlPool;
  readonly #client: RedisClient;
  readonly #redis: Readonly<Record<string, string>>;
  /** Whether a device that somebody asked something for is subscribed: of APNs, by token. */
  readonly #answered = new Map<string, boolean>();
  #cursor = 0;
  #fresh = 0;

  static async open(t: Test, url: string, address: RedisAddress): Promise<Field> {
    const scene = await setScene(t, url, {
      simulatorFlags: [`--latency-ms=${LATENCY_MS}`],
      apnsDevices: APNS_DEVICES,
      fcmDevices: FCM_DEVICES,
    });
    return new Field(t, scene, url, address);
  }

  private constructor(t: Test, scene: Scene, url: string, address: RedisAddress) {
    this.#t = t;
    this.scene = scene;
    this.#url = url;
    this.#sql = connect({ kind: 'postgres', url }, 2);
    this.#client = connectRedis(address, () => undefined);
    this.#redis =
      address.kind === 'single'
        ? { REDIS_URL: address.url }
        : { REDIS_CLUSTER: address.urls.join(',') };
    t.teardown(async () => {
      this.#client.disconnect();
      await this.#sql.end();
    });
  }

  get sql(): SqlPool {
    return this.#sql;
  }

  /** Starts an engine of its own directory. */
  start(environment: Readonly<Record<string, string>> = {}): Promise<EngineProcess> {
    const all = { ...ENVIRONMENT, ...this.#redis, ...environment };
    return this.scene.start(all, temporaryDirectory(this.#t));
  }

  /** Changes `count` devices of every group through the engines at once, half of them known, half new. All are answered OK. */
  async change(engines: readonly EngineProcess[], count: number): Promise<void> {
    const places = Array.from(
      { length: count },
      (_, n) => (this.#cursor + n * 7_919) % APNS_DEVICES,
    );
    this.#cursor += 13;
    const known = await this.#sql<{ token: string; isSubscribed: boolean }[]>`
      select d.device_id as token, exists (
        select from subscriptions s
        where s.app_id = d.app_id and s.platform_id = d.platform_id and s.ordinal = d.ordinal
          and s.tag_id = ${this.scene.tagId}
      ) as "isSubscribed"
      from devices d
      where d.app_id = ${this.scene.demo.appId} and d.platform_id = ${PLATFORMS.apns}
        and d.ordinal = any(${places}::int[])`;
    const wishes = [
      ...known.map(({ token, isSubscribed }) => ({ token, joins: !isSubscribed })),
      ...Array.from({ length: count }, () => ({ token: this.freshToken(), joins: true })),
    ];
    await Promise.all(
      wishes.map(async ({ token, joins }, at) => {
        const engine = engines[at % engines.length];
        if (engine === undefined) throw new Error('there is no engine');
        const answer = await this.ask(engine, joins ? 'reg' : 'ureg', token);
        if (answer !== 'OK') throw new Error(`answered ${answer}`);
        this.#answered.set(token, joins);
      }),
    );
  }

  freshToken(): string {
    this.#fresh += 1;
    return `f${String(this.#fresh).padStart(63, '0')}`;
  }

  async ask(engine: EngineProcess, endpoint: 'reg' | 'ureg', deviceId: string): Promise<string> {
    const { demo, tagId } = this.scene;
    const device = { appId: demo.appId, platformId: PLATFORMS.apns, tagId, deviceId };
    const response = await post(
      `${engine.baseUrl}/push-api/${endpoint}`,
      demo.apiUser.token,
      device,
    );
    return response.text();
  }

  /** Sends to the tag, does something in the middle, and looks who got it. */
  async sendsExactly(
    t: Test,
    engine: EngineProcess,
    what: string,
    meanwhile?: () => Promise<void> | void,
  ): Promise<void> {
    const { controlUrl } = this.scene.simulator;
    await fetch(`${controlUrl}/reset`, { method: 'POST' });
    const job = await push(engine.baseUrl, this.scene.demo, [this.scene.tagId]);
    if (meanwhile !== undefined) {
      await until('the send has begun', async () =>
        (await accepted(controlUrl, 'apns')) > 500 ? true : null,
      );
      await meanwhile();
    }
    const rows = await finalStatus(engine.baseUrl, this.scene.demo, job, LIMIT_MS);
    t.same(new Set(rows.map(({ state }) => state)), new Set(['FINISHED']), `${what}: finished`);
    t.ok(rows.every(sumCloses), `${what}: the sums close`);
    for (const provider of ['apns', 'fcm'] as const) {
      const wanted = new Set(await this.#subscribed(PLATFORMS[provider]));
      const got = new Set(await this.#receivers(provider));
      const missed = [...wanted].filter((token) => !got.has(token));
      const surplus = [...got].filter((token) => !wanted.has(token));
      t.same(missed, [], `${what}: none of ${wanted.size} of ${provider} is missed`);
      t.same(surplus, [], `${what}: nobody of ${provider} gets it who is not subscribed`);
      const { times } = await deliveries(controlUrl, provider);
      const often = Object.entries(times).filter(([k, tokens]) => Number(k) > 1 && tokens > 0);
      t.same(often, [], `${what}: nobody has it twice`);
    }
  }

  /** What was answered is in the database. */
  async isDurable(t: Test, what: string): Promise<void> {
    const subscribed = new Set(await this.#subscribed(PLATFORMS.apns));
    const lost = [...this.#answered].filter(([token, joins]) => subscribed.has(token) !== joins);
    t.same(lost, [], `${what}: all of ${this.#answered.size} answered registrations are there`);
  }

  /** The engines mend the index in the background: each group is current, and holds what the database holds. */
  async isMended(t: Test, what: string): Promise<void> {
    await until(
      `${what}: the index is mended`,
      async () => {
        const { name } = await readLineage(this.#sql);
        const stale = await staleGroups(this.#sql, this.#client, name).catch(() => null);
        return stale?.length === 0 ? true : null;
      },
      LIMIT_MS,
    );
    const { name } = await readLineage(this.#sql);
    const differences = await indexDifferences(this.#sql, this.#client, name);
    t.same(differences.slice(0, 20), [], `${what}: the index holds what the database holds`);
  }

  /** All three. */
  async isWhole(t: Test, engine: EngineProcess, what: string): Promise<void> {
    await this.isDurable(t, what);
    await this.sendsExactly(t, engine, what);
    await this.isMended(t, what);
  }

  /** A copy of the database as it is now, as a backup of it would be restored; nobody may be connected to it. Answers its URL. */
  async copyDatabase(): Promise<string> {
    await this.#sql.end();
    const url = new URL(this.#url);
    const original = url.pathname.slice(1);
    const copy = `${original}_copy`;
    const adminUrl = new URL(this.#url);
    adminUrl.pathname = '/postgres';
    const admin = connect({ kind: 'postgres', url: adminUrl.href }, 1);
    await admin.unsafe(`create database ${copy} template ${original}`);
    this.#t.teardown(async () => {
      await admin.unsafe(`drop database if exists ${copy} with (force)`);
      await admin.end();
    });
    url.pathname = `/${copy}`;
    this.#sql = connect({ kind: 'postgres', url: this.#url }, 2);
    return url.href;
  }

  /** From now on it is another database that is looked at, in which `answered` may not hold. */
  async turnTo(url: string): Promise<void> {
    await this.#sql.end();
    this.#sql = connect({ kind: 'postgres', url }, 2);
    this.#answered.clear();
  }

  /** What was answered was lost with the database: nobody can be held to it. */
  forget(): void {
    this.#answered.clear();
  }

  async #subscribed(platformId: number): Promise<readonly string[]> {
    const rows = await this.#sql<{ token: string }[]>`
      select d.device_id as token from subscriptions s
      join devices d using (app_id, platform_id, ordinal)
      where s.app_id = ${this.scene.demo.appId} and s.platform_id = ${platformId}
        and s.tag_id = ${this.scene.tagId}`;
    return rows.map(({ token }) => token);
  }

  async #receivers(provider: 'apns' | 'fcm'): Promise<readonly string[]> {
    const { controlUrl } = this.scene.simulator;
    const response = await fetch(`${controlUrl}/tokens/${provider}?limit=100000`);
    return (await response.json()) as readonly string[];
  }
}
