/**
 * The servers that `register` compares, on one PostgreSQL and one Redis, with the devices that they
 * know.
 */

import postgres from 'postgres';
import { PLATFORMS } from '../../../packages/std/src/platforms.ts';
import { post } from '../../../test/support/client.ts';
import type { Lifetime } from '../../../test/support/lifetime.ts';
import type { Demo } from '../../../test/support/processes.ts';
import { startEngine } from '../../../test/support/processes.ts';
import { findProgram } from '../../../test/support/programs.ts';
import { startRedis } from '../../../test/support/redis-server.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { startBaseline } from '../../baselines/baseline.ts';
import { registerKnownDevices } from '../../loads/autocannon.ts';
import type { Target } from '../../loads/load.ts';
import { familyCpuMicros, processCpuMicros } from '../../processes.ts';
import { benchStores } from '../../stores.ts';

/** Tags of each device: few in an app for news, many in one for sports. */
export const FEW_TAGS = 3;
export const MANY_TAGS = 20;
/** That devices choose from. */
const TAGS = 24;

/**
 * `ours, written`: it writes repetitions too, as each does that is older than
 * REGISTRATION_REFRESH_HOURS.
 */
export type ServerName = 'ours' | 'ours, written' | 'straightforward' | 'bare front' | EmbeddedName;
/** Ours on the embedded store. */
export type EmbeddedName = 'embedded' | 'embedded, no fsync';

export interface Server {
  readonly name: ServerName;
  readonly target: Target;
  readonly pid: number;
}

export interface RegisterGrounds {
  readonly servers: readonly Server[];
  /** CPU of PostgreSQL and Redis, so far. */
  storesCpuMicros(): number;
}

/** The servers on a store of this name; null: on all there are. */
export async function startServers(
  stage: Lifetime,
  wanted: string | null,
): Promise<RegisterGrounds> {
  const onServer = wanted === 'embedded' ? null : await startOnPostgres(stage);
  const embedded =
    wanted === 'postgres'
      ? []
      : [
          await startEmbedded(stage, 'embedded', '1'),
          await startEmbedded(stage, 'embedded, no fsync', '0'),
        ];
  return {
    servers: [...(onServer?.servers ?? []), ...embedded],
    storesCpuMicros: onServer?.storesCpuMicros ?? (() => 0),
  };
}

async function startEmbedded(
  stage: Lifetime,
  name: EmbeddedName,
  fsync: '0' | '1',
): Promise<Server> {
  const settings = { EMBEDDED_FSYNC: fsync };
  const engine = await startEngine(stage, temporaryDirectory(stage), settings);
  const demo = engine.demo();
  const tagIds = await makeTags(engine.baseUrl, demo);
  const { appId, apiUser } = demo;
  const target = {
    appId,
    platformId: PLATFORMS.apns,
    tagIds,
    token: apiUser.token,
    baseUrl: engine.baseUrl,
  };
  await registerKnownDevices(target, FEW_TAGS);
  return { name, target, pid: engine.child.pid ?? 0 };
}

/**
 * All on one PostgreSQL and one Redis, each with a database of its own. Null: no PostgreSQL is
 * installed.
 */
async function startOnPostgres(stage: Lifetime): Promise<RegisterGrounds | null> {
  const store = (await benchStores(stage)).find(({ name }) => name === 'postgres');
  if (store?.url === undefined) return null;
  await fillLog(store.url);
  const redis = findProgram('redis-server') === null ? null : await startRedis(stage);
  const redisUrl = redis?.url ?? null;
  if (redisUrl === null) console.log('(redis-server is not installed: without Redis)');
  const engine = await startEngine(stage, temporaryDirectory(stage), {
    ...store.environment,
    ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
  });
  const demo = engine.demo();
  const tagIds = await makeTags(engine.baseUrl, demo);
  const of = { appId: demo.appId, platformId: PLATFORMS.apns, tagIds, token: demo.apiUser.token };
  const writing = await startEngine(stage, temporaryDirectory(stage), {
    ...store.environment,
    ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
    REGISTRATION_REFRESH_HOURS: '0',
  });
  const databaseUrl = await makeDatabase(store.url, 'straightforward');
  const straightforward = await startBaseline(stage, 'register', {
    ...of,
    databaseUrl,
    redisUrl: redisUrl === null ? null : `${redisUrl}/1`,
  });
  const front = await startBaseline(stage, 'front', null);
  const server = (name: ServerName, baseUrl: string, pid: number | undefined): Server => ({
    name,
    target: { ...of, baseUrl },
    pid: pid ?? 0,
  });
  const servers = [
    server('ours', engine.baseUrl, engine.child.pid),
    server('straightforward', straightforward.baseUrl, straightforward.pid),
  ];
  for (const { target } of servers) {
    for (const tags of [FEW_TAGS, MANY_TAGS]) await registerKnownDevices(target, tags);
  }
  const postgresPid = store.pid ?? 0;
  return {
    servers: [
      ...servers,
      server('ours, written', writing.baseUrl, writing.child.pid),
      server('bare front', front.baseUrl, front.pid),
    ],
    storesCpuMicros: () =>
      familyCpuMicros(postgresPid) + (redis === null ? 0 : processCpuMicros(redis.pid)),
  };
}

/** The demo's tags and as many more. */
async function makeTags(
  baseUrl: string,
  { tagIds, superUser, clientId }: Demo,
): Promise<readonly number[]> {
  const tags = Array.from({ length: TAGS - tagIds.length }, (_, n) => ({ name: `Tag ${n}` }));
  const path = `/push-admin-api/tag/add/${clientId}`;
  const answer = await post(`${baseUrl}${path}`, superUser.token, { tags });
  if (!answer.ok) throw new Error(`${path} answers ${answer.status}`);
  const made = (await answer.json()) as { readonly tags: readonly { readonly id: number }[] };
  return [...tagIds, ...made.tags.map(({ id }) => id)];
}

/**
 * A server that has run for a while writes its log over old segments. A new one makes each of them
 * first, 16 MB at a time, and every commit waits: a faster server sees it more often.
 */
async function fillLog(url: string): Promise<void> {
  const settings = postgres(url, { max: 1 });
  await settings`alter system set min_wal_size = '1GB'`;
  await settings`alter system set max_wal_size = '2GB'`;
  await settings`select pg_reload_conf()`;
  await settings.end();
  // A new session has the new settings from its first statement on.
  const sql = postgres(url, { max: 1 });
  await sql`select count(pg_logical_emit_message(true, 'fill', repeat('x', 16000000))) from generate_series(1, 66)`;
  await sql`checkpoint`;
  const [log] = await sql<{ segments: number }[]>`
    select count(*)::int as segments from pg_ls_waldir()`;
  console.log(`(PostgreSQL's log is written over ${log?.segments} segments)`);
  await sql.end();
}

async function makeDatabase(serverUrl: string, name: string): Promise<string> {
  const sql = postgres(serverUrl, { max: 1 });
  await sql.unsafe(`create database ${name}`);
  await sql.end();
  return Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
}
