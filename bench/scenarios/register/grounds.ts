/**
 * The servers that `register` compares, on one PostgreSQL and one Redis, with the devices that they
 * know.
 */

import postgres from 'postgres';
import { PLATFORMS } from '../../../packages/std/src/platforms.ts';
import { post } from '../../../test/support/client.ts';
import type { Lifetime } from '../../../test/support/lifetime.ts';
import type { Demo, EngineProcess } from '../../../test/support/processes.ts';
import { startEngine } from '../../../test/support/processes.ts';
import { findProgram } from '../../../test/support/programs.ts';
import { startRedis } from '../../../test/support/redis-server.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import type { Certificate } from '../../baselines/baseline.ts';
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
 * REGISTRATION_REFRESH_HOURS. `ours, node` and `ours, uws` have HTTP_FRONT=node and HTTP_FRONT=uws;
 * the last two are on the embedded store.
 */
export type ServerName =
  | 'ours'
  | 'ours, written'
  | 'straightforward'
  | 'bare front'
  | 'ours, node'
  | 'ours, uws'
  | 'embedded'
  | 'embedded, no fsync';

/** A request comes in clear text, or in TLS. */
export type Carrier = 'plain' | 'TLS';

export interface Server {
  readonly name: ServerName;
  readonly over: Carrier;
  readonly target: Target;
  readonly pid: number;
}

/** One PostgreSQL and one Redis, where each server has a database of its own. */
export interface Stores {
  readonly databaseUrl: string;
  /** Null: Redis is not installed. */
  readonly redisUrl: string | null;
  /** The settings that make an engine use them. */
  readonly environment: Readonly<Record<string, string>>;
  /** CPU of PostgreSQL and Redis, so far. */
  storesCpuMicros(): number;
}

/** Null: no PostgreSQL is installed. */
export async function startStores(stage: Lifetime): Promise<Stores | null> {
  const store = (await benchStores(stage)).find(({ name }) => name === 'postgres');
  if (store?.url === undefined) return null;
  await fillLog(store.url);
  const redis = findProgram('redis-server') === null ? null : await startRedis(stage);
  if (redis === null) console.log('(redis-server is not installed: without Redis)');
  const postgresPid = store.pid ?? 0;
  return {
    databaseUrl: store.url,
    redisUrl: redis?.url ?? null,
    environment: { ...store.environment, ...(redis === null ? {} : { REDIS_URL: redis.url }) },
    storesCpuMicros: () =>
      familyCpuMicros(postgresPid) + (redis === null ? 0 : processCpuMicros(redis.pid)),
  };
}

/** The target of a load, but for its address: every server knows these tags and this credential. */
export type TargetData = Omit<Target, 'baseUrl'>;

/** Our server in clear text, with the devices that it knows. */
export async function startOurs(stage: Lifetime, stores: Stores) {
  const engine = await startEngine(stage, temporaryDirectory(stage), stores.environment);
  const data = await targetDataOf(engine);
  const server = serverOf('ours', data, engine);
  for (const tags of [FEW_TAGS, MANY_TAGS]) await registerKnownDevices(server.target, tags);
  return { server, data };
}

/** Servers in clear text, with the devices that they know. */
export async function startServers(stage: Lifetime, stores: Stores): Promise<readonly Server[]> {
  const { server: ours, data } = await startOurs(stage, stores);
  const writing = await startEngine(stage, temporaryDirectory(stage), {
    ...stores.environment,
    REGISTRATION_REFRESH_HOURS: '0',
  });
  const front = await startBaseline(stage, 'front', null);
  const straightforward = await startStraightforward(stage, stores, data, {
    redisDatabase: 1,
    knownTags: [FEW_TAGS, MANY_TAGS],
    certificate: null,
  });
  return [
    ours,
    straightforward,
    serverOf('ours, written', data, writing),
    {
      name: 'bare front',
      over: 'plain',
      target: { ...data, baseUrl: front.baseUrl },
      pid: front.pid,
    },
  ];
}

/** The app, the credential and the tags of an engine's demo. */
export async function targetDataOf({ baseUrl, demo }: EngineProcess): Promise<TargetData> {
  const { appId, apiUser } = demo();
  const tagIds = await makeTags(baseUrl, demo());
  return { appId, platformId: PLATFORMS.apns, tagIds, token: apiUser.token };
}

export const serverOf = (name: ServerName, data: TargetData, engine: EngineProcess): Server => ({
  name,
  over: engine.baseUrl.startsWith('https:') ? 'TLS' : 'plain',
  target: { ...data, baseUrl: engine.baseUrl },
  pid: engine.child.pid ?? 0,
});

/** With a database of its own in PostgreSQL and in Redis, and the known devices in it. */
export async function startStraightforward(
  stage: Lifetime,
  { databaseUrl, redisUrl }: Stores,
  data: TargetData,
  { redisDatabase, knownTags, certificate }: StraightforwardOptions,
): Promise<Server> {
  const task = {
    ...data,
    databaseUrl: await makeDatabase(databaseUrl, `straightforward${redisDatabase}`),
    redisUrl: redisUrl === null ? null : `${redisUrl}/${redisDatabase}`,
    certificate,
  };
  const scheme = certificate === null ? 'http' : 'https';
  const { baseUrl, pid } = await startBaseline(stage, 'register', task, scheme);
  const target = { ...data, baseUrl };
  for (const tags of knownTags) await registerKnownDevices(target, tags);
  return { name: 'straightforward', over: certificate === null ? 'plain' : 'TLS', target, pid };
}

interface StraightforwardOptions {
  /** Not 0, which is the engine's. */
  readonly redisDatabase: number;
  /** Tags of the devices that it knows: so many devices with each number of them. */
  readonly knownTags: readonly number[];
  /** Null: clear text. */
  readonly certificate: Certificate | null;
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
