/**
 * The straightforward server: what a good developer writes in a day for `reg` and `set`. fastify,
 * `pg` with a pool, one transaction for each request, then one Redis pipeline of `SADD` and `SREM`.
 * Credentials are cached, statements are prepared, and tags are read in the statement that uses
 * them.
 */

import { createHash } from 'node:crypto';
import { loadPeer } from '../clients/peer.ts';
import type { BaselineTask } from './baseline.ts';
import { serveTask } from './serve-task.ts';

interface Fastify {
  decorateRequest(name: string, value: unknown): void;
  post(path: string, options: object, handle: (request: Request, reply: Reply) => unknown): void;
  listen(options: object): Promise<string>;
}

interface Request {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Registration;
  appId: number;
}

interface Reply {
  code(status: number): Reply;
  send(body: unknown): Reply;
}

interface Registration {
  readonly appId: number;
  readonly platformId: number;
  readonly deviceId: string;
  readonly tagId: readonly number[];
  readonly appVersion?: string;
}

interface Client {
  query(query: {
    readonly name?: string;
    readonly text: string;
    readonly values?: readonly unknown[];
  }): Promise<{ readonly rows: readonly Readonly<Record<string, number>>[] }>;
}

interface Pool extends Client {
  connect(): Promise<Client & { release(): void }>;
}

interface Redis {
  pipeline(): {
    sadd(key: string, member: string): void;
    srem(key: string, member: string): void;
    exec(): Promise<unknown>;
  };
}

/** No more than its 2 cores can use: 10 and 40 are no faster. */
const CONNECTIONS_MAX = 20;
const CREDENTIAL_MS = 60_000;

const SCHEMA = `
  create table credentials (token_hash bytea primary key, app_id int not null);
  create table tags (id int primary key, app_id int not null, deleted_at timestamptz, expires_at timestamptz);
  create table devices (
    id bigint generated always as identity primary key,
    app_id int not null, platform_id smallint not null, device_id text not null,
    app_version text, registered_at timestamptz not null,
    unique (app_id, platform_id, device_id)
  );
  create table subscriptions (
    device_id bigint not null references devices on delete cascade,
    tag_id int not null references tags on delete cascade,
    primary key (device_id, tag_id)
  );
  create index subscriptions_of_tag on subscriptions (tag_id)`;

const UPSERT_DEVICE = `
  insert into devices (app_id, platform_id, device_id, app_version, registered_at) values ($1, $2, $3, $4, now())
  on conflict (app_id, platform_id, device_id)
    do update set registered_at = now(), app_version = coalesce(excluded.app_version, devices.app_version)
  returning id`;
const SUBSCRIBE = `
  insert into subscriptions (device_id, tag_id)
  select $1, id from tags
  where id = any ($2) and app_id = $3 and deleted_at is null and (expires_at is null or expires_at > now())
  on conflict do nothing`;
const UNSUBSCRIBE_OTHERS = `
  delete from subscriptions where device_id = $1 and tag_id <> all ($2) returning tag_id`;

serveTask(start);

async function start(task: BaselineTask): Promise<string> {
  const { Pool } = loadPeer('pg') as { readonly Pool: new (options: object) => Pool };
  const { fastify } = loadPeer('fastify') as { readonly fastify: (options: object) => Fastify };
  const { Redis } = loadPeer('ioredis') as { readonly Redis: new (url: string) => Redis };
  const pool = new Pool({ connectionString: task.databaseUrl, max: CONNECTIONS_MAX });
  const redis = task.redisUrl === null ? null : new Redis(task.redisUrl);
  await prepare(pool, task);
  const server = fastify({ logger: false, https: task.certificate });
  const authenticate = createAuthentication(pool);
  server.decorateRequest('appId', 0);
  for (const kind of ['reg', 'set'] as const) {
    server.post(`/push-api/${kind}`, { preHandler: authenticate }, async (request) => {
      await change(pool, redis, kind, request);
      return 'OK';
    });
  }
  return server.listen({ host: '127.0.0.1', port: 0 });
}

async function prepare(pool: Pool, { appId, tagIds, token }: BaselineTask): Promise<void> {
  await pool.query({ text: SCHEMA });
  await pool.query({
    text: 'insert into tags (id, app_id) select unnest($1::int[]), $2',
    values: [tagIds, appId],
  });
  await pool.query({
    text: 'insert into credentials (token_hash, app_id) values ($1, $2)',
    values: [hashOf(token), appId],
  });
}

function createAuthentication(pool: Pool) {
  const known = new Map<string, { readonly appId: number; readonly untilMs: number }>();
  return async (request: Request, reply: Reply) => {
    const [, token = ''] = (request.headers['authorization'] ?? '').split(' ');
    const cached = known.get(token);
    if (cached !== undefined && cached.untilMs > Date.now()) {
      request.appId = cached.appId;
      return;
    }
    const { rows } = await pool.query({
      name: 'credential',
      text: 'select app_id from credentials where token_hash = $1',
      values: [hashOf(token)],
    });
    const appId = rows[0]?.['app_id'];
    if (appId === undefined) return reply.code(401).send({ title: 'Unauthorized' });
    known.set(token, { appId, untilMs: Date.now() + CREDENTIAL_MS });
    request.appId = appId;
    return;
  };
}

async function change(pool: Pool, redis: Redis | null, kind: 'reg' | 'set', request: Request) {
  const { appId, platformId, deviceId, tagId, appVersion = null } = request.body;
  if (appId !== request.appId || typeof deviceId !== 'string' || !Array.isArray(tagId)) return;
  const lost = await transaction(pool, async (client) => {
    const { rows } = await client.query({
      name: 'upsert device',
      text: UPSERT_DEVICE,
      values: [appId, platformId, deviceId, appVersion],
    });
    const id = rows[0]?.['id'];
    await client.query({ name: 'subscribe', text: SUBSCRIBE, values: [id, tagId, appId] });
    if (kind === 'reg') return [];
    const values = [id, tagId];
    const removed = await client.query({ name: 'others', text: UNSUBSCRIBE_OTHERS, values });
    return removed.rows.map((row) => row['tag_id']);
  });
  if (redis === null) return;
  const pipeline = redis.pipeline();
  for (const id of tagId) pipeline.sadd(`tag:${id}`, deviceId);
  for (const id of lost) pipeline.srem(`tag:${id}`, deviceId);
  await pipeline.exec();
}

async function transaction<T>(pool: Pool, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query({ text: 'begin' });
    const result = await work(client);
    await client.query({ text: 'commit' });
    return result;
  } catch (error) {
    await client.query({ text: 'rollback' });
    throw error;
  } finally {
    client.release();
  }
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
