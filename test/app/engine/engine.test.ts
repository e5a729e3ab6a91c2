/** The parts of an engine: each shows its work in a real process on a PostgreSQL and a Redis. */

import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import type { SqlPool } from '../../../src/database/sql.ts';
import { connect } from '../../../src/database/sql.ts';
import { PREFIX } from '../../../src/tag-index/redis/keys.ts';
import { finalStatus, post, push } from '../../support/client.ts';
import { until } from '../../support/poll.ts';
import type { EngineProcess } from '../../support/processes.ts';
import { startEngine } from '../../support/processes.ts';
import type { RedisServer } from '../../support/redis-server.ts';
import { startRedis, withRedis } from '../../support/redis-server.ts';
import { withPostgres } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** Loaded before the engine: what it does every minute it does every second. */
const HURRY = `
const { setTimeout } = globalThis;
const hurried = (work, ms, ...more) => setTimeout(work, ms === 60_000 ? 1_000 : ms, ...more);
for (const symbol of Object.getOwnPropertySymbols(setTimeout)) hurried[symbol] = setTimeout[symbol];
globalThis.setTimeout = hurried;
`;
const DEVICES = 3;
const OFFSET_OCTETS = 2;
/** Housekeeping comes every ten seconds, and may just have passed by. */
const HOUSEKEPT_WITHIN_MS = 60_000;

await withRedis(t, (t) =>
  withPostgres(t, async (t, url) => {
    const redis = await startRedis(t);
    const directory = temporaryDirectory(t, { 'hurry.mjs': HURRY });
    const engine = await startEngine(t, temporaryDirectory(t), {
      DATABASE_URL: url,
      REDIS_URL: redis.url,
      SECRET_KEY: 'a secret of this test, long enough',
      DEMO: '1',
      WORKERS: '1',
      NODE_OPTIONS: `--import=${join(directory, 'hurry.mjs')}`,
    });
    const sql = connect({ kind: 'postgres', url }, 2);
    t.teardown(() => sql.end());
    await t.test('Redis tells who has a tag, the engine and its workers', (t) =>
      indexed(t, engine, redis),
    );
    await t.test('housekeeping goes on: what nobody needs any more goes', (t) => housekept(t, sql));
    await t.test('maintenance goes on: what is new is analyzed', (t) => maintained(t, sql));
    await t.test('credentials are watched: what sends show is noted, and told', (t) =>
      watched(t, sql, engine),
    );
    await t.test('metrics tell of every part', (t) => measured(t, engine));
    t.equal(await engine.end('SIGTERM'), 0);
  }),
);

/** Makes Redis differ from the database, so that one sees which one answers. */
async function indexed(t: Test, engine: EngineProcess, redis: RedisServer): Promise<void> {
  const demo = engine.demo();
  const [tagId = 0] = demo.tagIds;
  for (let n = 0; n < DEVICES; n += 1) {
    const device = { appId: demo.appId, platformId: 3, deviceId: `${n}`.padStart(64, 'a'), tagId };
    const answer = await post(`${engine.baseUrl}/push-api/reg`, demo.apiUser.token, device);
    t.equal(await answer.text(), 'OK');
  }
  const [key, offsets] = await until('Redis has the devices', async () => {
    for (const key of await redis.client.keys(`${PREFIX}*}`)) {
      const offsets = await redis.client.hgetBuffer(key, String(tagId));
      if (offsets?.length === DEVICES * OFFSET_OCTETS) return [key, offsets] as const;
    }
    return null;
  });
  await redis.client.hset(key, String(tagId), offsets.subarray(0, OFFSET_OCTETS));

  const body = { tagIds: [tagId], payload: { title: 'goal!' }, dryRun: true };
  const answer = await post(`${engine.baseUrl}/push-api/push`, demo.superUser.token, body);
  const { audience } = (await answer.json()) as { audience: readonly { count: number }[] };
  t.equal(
    audience.reduce((sum, { count }) => sum + count, 0),
    1,
    'the engine asks Redis',
  );
  const job = await push(engine.baseUrl, demo, [tagId]);
  t.match(
    (await finalStatus(engine.baseUrl, demo, job)).find(({ key }) => key.platformId === 3),
    { totalCount: 1, successCount: 1 },
    'a worker asks Redis',
  );
}

async function housekept(t: Test, sql: SqlPool): Promise<void> {
  const { count } = await sql`
    insert into idempotency_keys (client_id, key, body_hash, notification_id, created_at)
    select client_id, 'old', '', id, now() - interval '25 hours' from notifications limit 1`;
  t.equal(count, 1);
  await until(
    'the key has gone',
    async () => {
      const [left] = await sql`select 1 from idempotency_keys where key = 'old'`;
      return left === undefined ? true : null;
    },
    HOUSEKEPT_WITHIN_MS,
  );
}

async function maintained(t: Test, sql: SqlPool): Promise<void> {
  // PostgreSQL's own autovacuum comes every minute, and may be first.
  await sql`alter table tag_days set (autovacuum_enabled = false)`;
  await sql`
    insert into tag_days (tag_id, day, slot)
    select i, current_date, 1 from generate_series(2000001, 2005000) as i`;
  await until('the table has statistics', async () => {
    const [row] = await sql<{ isAnalyzed: boolean }[]>`
      select last_analyze is not null as "isAnalyzed" from pg_stat_user_tables where relname = 'tag_days'`;
    return row?.isAnalyzed === true ? true : null;
  });
  t.pass('it has');
}

async function watched(t: Test, sql: SqlPool, engine: EngineProcess): Promise<void> {
  const { appId } = engine.demo();
  await until('the send is noted', async () => {
    const [row] = await sql`
      select 1 from credential_health
      where app_id = ${appId} and platform_id = 3 and accepted_at is not null`;
    return row === undefined ? null : true;
  });
  const series = new RegExp(`^tagcast_credential_fallback\\{.*app="${appId}".*\\} 0$`, 'm');
  await until('the metrics know it', async () =>
    series.test(await metricsOf(engine)) ? true : null,
  );
  t.pass('it is noted and told');
}

async function measured(t: Test, engine: EngineProcess): Promise<void> {
  // Worker threads report their work every few seconds.
  const text = await until('a worker has told of its sends', async () => {
    const text = await metricsOf(engine);
    return /^tagcast_provider_sends_total\{.*\} [1-9]/m.test(text) ? text : null;
  });
  for (const series of [
    /^tagcast_provider_sends_total\{provider="apns",outcome="delivered"\} 1$/m,
    /^tagcast_provider_sends_total\{provider="apns",outcome="unknown"\} 0$/m,
    /^tagcast_provider_latency_seconds_count\{provider="apns"\} 1$/m,
    /^tagcast_provider_latency_seconds_bucket\{provider="apns",le="\+Inf"\} 1$/m,
    /^tagcast_provider_connections\{provider="apns"\} 1$/m,
    /^tagcast_provider_connects_total\{provider="apns"\} 1$/m,
    /^tagcast_provider_connect_failures_total\{provider="apns"\} 0$/m,
    /^tagcast_provider_streams\{provider="apns"\} 0$/m,
    /^tagcast_provider_connections\{provider="fcm"\} 0$/m,
    /^tagcast_index_resolve_seconds_count\{source="redis"\} [1-9]/m,
    /^tagcast_index_resolve_seconds_count\{source="database"\} 0$/m,
    /^tagcast_index_fallbacks_total\{reason="stale"\} 0$/m,
    /^tagcast_thread_event_loop_delay_seconds_count\{thread="main"\} [1-9]/m,
    /^tagcast_thread_event_loop_delay_seconds_count\{thread="worker-1"\} [1-9]/m,
    /^tagcast_registrations_total\{operation="reg"\} 3$/m,
    /^tagcast_sends_total\{platform="3",outcome="delivered"\} 1$/m,
    /^tagcast_queue_depth\{queue="registrations"\} 0$/m,
    /^tagcast_index_reachable 1$/m,
  ]) {
    t.match(text, series);
  }
}

async function metricsOf({ baseUrl }: EngineProcess): Promise<string> {
  return (await fetch(`${baseUrl}/metrics`)).text();
}
