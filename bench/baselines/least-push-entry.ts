/**
 * A server for pushes that does next to nothing: bare `node:http`; jobs that come together are
 * inserted in one statement, the tokens are in memory, one HTTP/2 session of Node's own, and jobs
 * that end together are updated in one statement. It checks nothing, selects nothing and counts
 * nothing.
 */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import postgres from 'postgres';
import { Batcher } from '../../src/std/batcher.ts';
import type { PushTask } from './push-entry.ts';
import { send } from './send-push.ts';
import { serveTask } from './serve-task.ts';

/** Jobs in one statement. */
const JOBS_MAX = 256;

const SCHEMA = `
  create table jobs (
    id uuid primary key, payload text not null, state text not null default 'queued',
    accepted_at timestamptz not null default now(), finished_at timestamptz
  )`;

interface Job {
  readonly id: string;
  readonly tagId: number;
  readonly payload: string;
}

serveTask(start);

async function start(task: PushTask): Promise<string> {
  const sql = postgres(task.databaseUrl, { max: 2 });
  await sql.unsafe(SCHEMA);
  const session = connect(task.origin, { ca: task.ca });
  const inserts = batcherOf<Job>(async (jobs) => {
    await sql`
      insert into jobs (id, payload)
      select * from unnest(${jobs.map(({ id }) => id)}::uuid[], ${jobs.map(({ payload }) => payload)}::text[])`;
  });
  const ends = batcherOf<string>(async (ids) => {
    await sql`update jobs set state = 'finished', finished_at = now() where id = any(${[...ids]}::uuid[])`;
  });
  const server = createServer(async (request, response) => {
    const job = jobOf(await readAll(request));
    await inserts.submit(job);
    response.end(job.id);
    const token = task.tokens[job.tagId - 1] ?? '';
    await send(session, token, job.payload, task);
    await ends.submit(job.id);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const batcherOf = <Item>(run: (items: readonly Item[]) => Promise<void>): Batcher<Item, void> =>
  new Batcher<Item, void>({
    itemsMax: JOBS_MAX,
    weightMax: JOBS_MAX,
    weightOf: () => 1,
    run: async (items) => {
      await run(items);
      return items.map(() => undefined);
    },
  });

function jobOf(text: string): Job {
  const { tagIds, payload } = JSON.parse(text) as {
    readonly tagIds: readonly number[];
    readonly payload: unknown;
  };
  const body = JSON.stringify({ aps: { alert: payload } });
  return { id: randomUUID(), tagId: tagIds[0] ?? 0, payload: body };
}
