/**
 * The straightforward server for pushes: what a good developer writes in a day. fastify,
 * `postgres`, one HTTP/2 session of Node's own: the job is inserted and answered, then its tokens
 * are selected, each is sent to, and the job is updated. Nothing of it survives its end.
 */

import { connect } from 'node:http2';
import postgres from 'postgres';
import { loadPeer } from '../clients/peer.ts';
import { send } from './send-push.ts';
import { serveTask } from './serve-task.ts';

/** The task on its start. */
export interface PushTask {
  readonly databaseUrl: string;
  readonly origin: string;
  readonly ca: string;
  readonly authorization: string;
  readonly topic: string;
  /** Tokens of the tags, in order, one each. */
  readonly tokens: readonly string[];
}

interface Request {
  readonly body: {
    readonly tagIds: readonly number[];
    readonly payload: { readonly title: string };
  };
}

interface Fastify {
  post(path: string, handle: (request: Request) => Promise<unknown>): void;
  listen(options: object): Promise<string>;
}

/** No more than its 2 cores can use. */
const CONNECTIONS_MAX = 20;

const SCHEMA = `
  create table devices (id bigint generated always as identity primary key, device_id text not null);
  create table subscriptions (tag_id int not null, device_id bigint not null references devices, primary key (tag_id, device_id));
  create table jobs (
    id uuid primary key default gen_random_uuid(), tag_ids int[] not null, payload json not null, state text not null default 'queued',
    total int not null default 0, success int not null default 0, accepted_at timestamptz not null default now(), finished_at timestamptz
  )`;

serveTask(start);

async function start(task: PushTask): Promise<string> {
  const { fastify } = loadPeer('fastify') as { readonly fastify: (options: object) => Fastify };
  const sql = postgres(task.databaseUrl, { max: CONNECTIONS_MAX });
  await sql.unsafe(SCHEMA);
  await sql`insert into devices (device_id) select unnest(${[...task.tokens]}::text[])`;
  await sql`insert into subscriptions (tag_id, device_id) select id, id from devices`;
  const session = connect(task.origin, { ca: task.ca });
  const server = fastify({ logger: false });
  server.post('/push-api/push', async ({ body: { tagIds, payload } }) => {
    const [job] = await sql<{ id: string }[]>`
      insert into jobs (tag_ids, payload) values (${[...tagIds]}, ${sql.json(payload)}) returning id`;
    if (job === undefined) throw new Error('nothing was inserted');
    void carryOut(job.id, tagIds, JSON.stringify({ aps: { alert: payload } }));
    return job.id;
  });
  return server.listen({ host: '127.0.0.1', port: 0 });

  async function carryOut(job: string, tagIds: readonly number[], body: string): Promise<void> {
    const devices = await sql<{ token: string }[]>`
      select distinct d.device_id as token from devices d join subscriptions s on s.device_id = d.id
      where s.tag_id = any(${[...tagIds]})`;
    const answers = await Promise.all(devices.map(({ token }) => send(session, token, body, task)));
    const success = answers.filter((status) => status === 200).length;
    await sql`
      update jobs set state = 'finished', total = ${answers.length}, success = ${success}, finished_at = now()
      where id = ${job}`;
  }
}
