/**
 * Sends to one device each: many that wait for one moment, many that are posted at once, and what
 * each costs; beside the straightforward server, which does no more than it must.
 */

import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import type { Lifetime } from '../../test/support/lifetime.ts';
import { startBaseline } from '../baselines/baseline.ts';
import { percentile } from '../clients/client.ts';
import { processMemoryMb } from '../processes.ts';
import type { Result, Scenario } from '../scenario.ts';
import { startNghttpdSink } from '../sinks/nghttpd.ts';
import type { Sink } from '../sinks/sink.ts';
import { originOf } from '../sinks/sink.ts';
import type { Costs, Metered } from './small-sends/costs.ts';
import { costsOfEach, costsSoFar } from './small-sends/costs.ts';
import type { SmallGrounds } from './small-sends/grounds.ts';
import { onEmbedded, onPostgres } from './small-sends/grounds.ts';
import type { Posted, PushTarget } from './small-sends/loads.ts';
import { NEWS, post, postAll, postAtRate } from './small-sends/loads.ts';

const WAITING = [1, 100, 1_000, 10_000, 100_000] as const;
/** The embedded store is for small installations, and slower. */
const WAITING_EMBEDDED_MAX = 10_000;
const CONNECTIONS = 64;
const POSTED = 4_000;
const POSTED_EMBEDDED = 1_000;
const POSTED_FIRST = 500;
const RATE_SECONDS = 5;
/** From writing them down until they are due. */
const AHEAD_MS = 2_000;
const LIMIT_MS = 300_000;
/** Among fewer there is nobody to stand behind. */
const URGENT_AMONG = 1_000;
const URGENT_AFTER_MS = 500;

export const smallSends: Scenario = {
  summary:
    'sends to one device each, nghttpd; scheduled for one moment or posted from 64 connections; CPU of the engine and of PostgreSQL for each',
  async run(stage, options): Promise<Result> {
    const sink = await startNghttpdSink(stage);
    if (sink === null) return { rows: [] };
    const most = options.waiting ?? Number.POSITIVE_INFINITY;
    const rows: SmallRow[] = [];
    if (options.store !== 'embedded') {
      const grounds = await onPostgres(stage, sink);
      if (grounds !== null) {
        rows.push(...(await measureOurs(grounds, most, POSTED)));
        await grounds.engine.end('SIGTERM');
        rows.push(...(await measureStraightforward(stage, grounds, sink)));
      }
    }
    if (options.store !== 'postgres') {
      const grounds = await onEmbedded(stage, sink);
      rows.push(
        ...(await measureOurs(grounds, Math.min(most, WAITING_EMBEDDED_MAX), POSTED_EMBEDDED)),
      );
    }
    return { rows: rows.map((row) => ({ ...row })), ratios: ratiosOf(rows) };
  },
};

/** What a load came to. Costs are those of each send. */
type Figures = Costs & {
  readonly sends: number;
  readonly perSecond: number;
  /** From the request until the outcome is recorded. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** From the moment that they were due for until the first and the last first attempt. */
  readonly firstMs: number | null;
  readonly lastMs: number | null;
  /** The same of one that is pushed for the moment while those are sent, from its request on. */
  readonly urgentMs: number | null;
  /** Likewise of one that another client pushes at the same time. */
  readonly otherMs: number | null;
  /** The most memory that the engine had meanwhile. */
  readonly residentMb: number | null;
};

type SmallRow = Figures & {
  readonly server: 'ours' | 'straightforward';
  readonly store: SmallGrounds['store'];
  readonly load: 'scheduled' | 'posted' | 'half load';
};

const NO_COSTS = { engineMicros: null, databaseMicros: null, commits: null, logBytes: null };
const NO_TIMES = {
  p50Ms: null,
  p99Ms: null,
  firstMs: null,
  lastMs: null,
  urgentMs: null,
  otherMs: null,
  residentMb: null,
};

async function measureOurs(
  grounds: SmallGrounds,
  most: number,
  posted: number,
): Promise<readonly SmallRow[]> {
  const { store, engine, demo, tagIds, sql } = grounds;
  const of = { server: 'ours', store } as const;
  const metered = { ...grounds, enginePid: engine.child.pid ?? 0 };
  const target = { baseUrl: engine.baseUrl, token: demo.superUser.token, tagIds };
  const open = async (): Promise<number> => {
    const [row] = await sql<{ open: number }[]>`
      select count(*)::integer as open from notifications where finished_at is null`;
    return row?.open ?? 0;
  };
  await postAll(target, POSTED_FIRST, CONNECTIONS);
  await untilNone(open);
  const rows: SmallRow[] = [];
  const rate = await measurePosted(metered, target, posted, open);
  rows.push({ ...of, load: 'posted', sends: posted, ...rate, ...NO_TIMES });
  const times = await measureRate(
    target,
    rate.perSecond / 2,
    open,
    (jobs) =>
      sql<{ id: string; atMs: number }[]>`
      select id, extract(epoch from finished_at)::float8 * 1000 as "atMs" from notifications where id = any(${jobs}::uuid[])`,
  );
  rows.push({ ...of, load: 'half load', ...times });
  for (const sends of WAITING) {
    if (sends > most) continue;
    rows.push({
      ...of,
      load: 'scheduled',
      ...(await measureScheduled(grounds, metered, target, sends, open)),
    });
  }
  return rows;
}

async function measureStraightforward(
  stage: Lifetime,
  { sql: ours, postmaster, tagIds }: SmallGrounds,
  sink: Sink,
): Promise<readonly SmallRow[]> {
  const { host, port, database } = ours.options;
  await ours.unsafe('create database straightforward');
  const url = new URL(`postgres://postgres@${host[0]}:${port[0]}/${database}`);
  url.pathname = '/straightforward';
  const server = await startBaseline(stage, 'push', {
    databaseUrl: url.href,
    origin: originOf(sink),
    ca: sink.ca,
    authorization: sink.authorization,
    topic: sink.credential.bundleId,
    tokens: sink.tokens,
  });
  const sql = postgres(url.href, { max: 1, types: {} });
  stage.teardown(() => sql.end());
  const of = { server: 'straightforward', store: 'postgres' } as const;
  const metered = { sql: ours, enginePid: server.pid, postmaster };
  const target = { baseUrl: server.baseUrl, token: '', tagIds: tagIds.map((_, n) => n + 1) };
  const open = async (): Promise<number> => {
    const [row] = await sql<{ open: number }[]>`
      select count(*)::integer as open from jobs where finished_at is null`;
    return row?.open ?? 0;
  };
  await postAll(target, POSTED_FIRST, CONNECTIONS);
  await untilNone(open);
  const rate = await measurePosted(metered, target, POSTED, open);
  const times = await measureRate(
    target,
    rate.perSecond / 2,
    open,
    (jobs) =>
      sql<{ id: string; atMs: number }[]>`
      select id, extract(epoch from finished_at)::float8 * 1000 as "atMs" from jobs where id = any(${jobs}::uuid[])`,
  );
  return [
    { ...of, load: 'posted', sends: POSTED, ...rate, ...NO_TIMES },
    { ...of, load: 'half load', ...times },
  ];
}

type Rate = Costs & { readonly perSecond: number };

/** From the first POST until the last has its outcome. */
async function measurePosted(
  metered: Metered,
  target: PushTarget,
  count: number,
  open: () => Promise<number>,
): Promise<Rate> {
  const before = await costsSoFar(metered);
  const startedMs = performance.now();
  await postAll(target, count, CONNECTIONS);
  await untilNone(open);
  const seconds = (performance.now() - startedMs) / 1_000;
  return { perSecond: count / seconds, ...costsOfEach(before, await costsSoFar(metered), count) };
}

/** From each request until the outcome is recorded. */
async function measureRate(
  target: PushTarget,
  perSecond: number,
  open: () => Promise<number>,
  ends: (jobs: string[]) => Promise<readonly { readonly id: string; readonly atMs: number }[]>,
): Promise<Figures> {
  const posted = await postAtRate(target, perSecond, RATE_SECONDS);
  await untilNone(open);
  const endOf = new Map(
    (await ends(posted.map(({ job }) => job))).map((row) => [row.id, row.atMs]),
  );
  const times = posted
    .map(({ job, atMs }: Posted) => (endOf.get(job) ?? Number.NaN) - atMs)
    .sort((a, b) => a - b);
  return {
    sends: posted.length,
    perSecond,
    ...NO_COSTS,
    ...NO_TIMES,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
  };
}

/** Written down as if they had been accepted before, and due in the same second. */
async function measureScheduled(
  { sql, clientId, demo, tagIds, other }: SmallGrounds,
  metered: Metered,
  target: PushTarget,
  sends: number,
  open: () => Promise<number>,
): Promise<Figures> {
  const [written] = await sql<{ dueMs: number }[]>`
    with written as (
      insert into notifications (
        id, client_id, user_name, state, any_tag_ids, all_tag_ids, none_tag_ids, payload, send_at
      )
      select gen_random_uuid(), ${clientId}, 'bench', 'SCHEDULED', array[(${[...tagIds]}::integer[])[1 + n % ${tagIds.length}::integer]],
        '{}', '{}', ${JSON.stringify({ ...NEWS, data: {} })}::text::json,
        clock_timestamp() + ${AHEAD_MS + sends / 10}::float8 * interval '1 millisecond'
      from generate_series(1, ${sends}::integer) as n
      returning id, send_at
    ),
    scoped as (
      insert into notification_scopes (notification_id, app_id, platform_id, simulated)
      select id, ${demo.appId}, 3, false from written
    )
    select max(extract(epoch from send_at))::float8 * 1000 as "dueMs" from written`;
  const dueMs = written?.dueMs ?? 0;
  await sql`update notifications set send_at = to_timestamp(${dueMs}::float8 / 1000) where state = 'SCHEDULED'`;
  await sleep(Math.max(0, dueMs - Date.now()));
  const before = await costsSoFar(metered);
  const memory = watchMemory(metered.enginePid);
  if (sends >= URGENT_AMONG) await sleep(URGENT_AFTER_MS);
  const [urgent, ofOther] = await Promise.all([
    sends < URGENT_AMONG ? null : postOne(target),
    sends < URGENT_AMONG || other === null ? null : postOne({ ...target, ...other }),
  ]);
  await untilNone(open);
  const residentMb = memory.stop();
  const after = await costsSoFar(metered);
  const [times] = await sql<{ firstMs: number; lastMs: number; endMs: number }[]>`
    select extract(epoch from min(first_send_at))::float8 * 1000 - ${dueMs}::float8 as "firstMs",
      extract(epoch from max(last_send_at))::float8 * 1000 - ${dueMs}::float8 as "lastMs",
      extract(epoch from max(finished_at))::float8 * 1000 - ${dueMs}::float8 as "endMs"
    from notifications where send_at = to_timestamp(${dueMs}::float8 / 1000)`;
  const { firstMs = 0, lastMs = 0, endMs = 0 } = times ?? {};
  return {
    sends,
    perSecond: (sends / endMs) * 1_000,
    ...costsOfEach(before, after, sends),
    ...NO_TIMES,
    firstMs,
    lastMs,
    urgentMs: urgent === null ? null : await firstMsOf(sql, urgent),
    otherMs: ofOther === null ? null : await firstMsOf(sql, ofOther),
    residentMb,
  };
}

async function postOne(target: PushTarget): Promise<Posted> {
  const agent = new Agent();
  const atMs = Date.now();
  return { job: await post(target, agent, 0), atMs };
}

async function firstMsOf(sql: SmallGrounds['sql'], { job, atMs }: Posted): Promise<number | null> {
  const [row] = await sql<{ ms: number }[]>`
    select extract(epoch from first_send_at)::float8 * 1000 - ${atMs}::float8 as ms from notifications where id = ${job}`;
  return row?.ms ?? null;
}

/** Looks at it ten times a second; the most that it saw. */
function watchMemory(pid: number): { stop(): number } {
  let most = 0;
  const look = (): void => {
    const nowMb = processMemoryMb(pid, 'VmRSS');
    if (nowMb > most) most = nowMb;
  };
  const timer = setInterval(look, 100);
  return {
    stop() {
      look();
      clearInterval(timer);
      return most;
    },
  };
}

/** Asked seldom while there are many: asking costs the database something. */
async function untilNone(open: () => Promise<number>): Promise<void> {
  const limitMs = performance.now() + LIMIT_MS;
  for (let left = await open(); left > 0; left = await open()) {
    if (performance.now() > limitMs) throw new Error(`${left} sends have no outcome`);
    await sleep(Math.min(1_000, 20 + left / 20));
  }
}

function ratiosOf(rows: readonly SmallRow[]): Readonly<Record<string, number | null>> {
  const of = (server: SmallRow['server'], load: SmallRow['load'], sends: number | null = null) =>
    rows.find(
      (row) =>
        row.server === server &&
        row.store === 'postgres' &&
        row.load === load &&
        (sends === null || row.sends === sends),
    );
  const over = (a: number | null | undefined, b: number | null | undefined): number | null =>
    a == null || b == null ? null : a / b;
  return {
    overStraightforward: over(
      of('ours', 'posted')?.perSecond,
      of('straightforward', 'posted')?.perSecond,
    ),
    engineOf100000Over100: over(
      of('ours', 'scheduled', 100_000)?.engineMicros,
      of('ours', 'scheduled', 100)?.engineMicros,
    ),
    residentOf100000Over100: over(
      of('ours', 'scheduled', 100_000)?.residentMb,
      of('ours', 'scheduled', 100)?.residentMb,
    ),
  };
}
