/**
 * Sends to one device each: many that wait for one moment, many that are posted at once, and what
 * each costs; beside the straightforward server, which does no more than it must, and beside one
 * that does next to nothing.
 */

import postgres from 'postgres';
import type { Lifetime } from '../../test/support/lifetime.ts';
import { startBaseline } from '../baselines/baseline.ts';
import { percentile } from '../clients/client.ts';
import type { Result, Scenario } from '../scenario.ts';
import { startNghttpdSink } from '../sinks/nghttpd.ts';
import type { Sink } from '../sinks/sink.ts';
import { originOf } from '../sinks/sink.ts';
import { measureAutovacuum } from './small-sends/autovacuum.ts';
import type { Metered } from './small-sends/costs.ts';
import { costsOfEach, costsSoFar } from './small-sends/costs.ts';
import type { Figures } from './small-sends/figures.ts';
import { NO_TIMES } from './small-sends/figures.ts';
import type { SmallGrounds } from './small-sends/grounds.ts';
import { onEmbedded, onPostgres } from './small-sends/grounds.ts';
import type { Posted, PushTarget } from './small-sends/loads.ts';
import { postAll, postAtRate } from './small-sends/loads.ts';
import { CONNECTIONS, measurePosted, openOf, untilNone } from './small-sends/posted.ts';
import { measureAlone, measureScheduled } from './small-sends/scheduled.ts';

const WAITING = [1, 100, 1_000, 10_000, 100_000] as const;
const WAITING_MOST = 100_000;
const WAITING_AGAIN = 1_000;
/** The embedded store is for small installations, and slower. */
const WAITING_EMBEDDED_MAX = 10_000;
const POSTED = 6_000;
const POSTED_EMBEDDED = 2_000;
/**
 * Until V8 has compiled what is often called: of the first thousands each costs half as much more.
 */
const POSTED_FIRST = 6_000;
const POSTED_FIRST_EMBEDDED = 2_000;
const RATE_SECONDS = 5;

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
        rows.push(...(await measureOurs(grounds, most, POSTED, POSTED_FIRST)));
        await grounds.engine.end('SIGTERM');
        for (const server of ['straightforward', 'least'] as const) {
          rows.push(...(await measureBaseline(server, stage, grounds, sink)));
        }
      }
    }
    for (const fsync of options.store === 'postgres' ? [] : [true, false]) {
      const grounds = await onEmbedded(stage, sink, { fsync });
      rows.push(
        ...(await measureOurs(
          grounds,
          Math.min(most, WAITING_EMBEDDED_MAX),
          POSTED_EMBEDDED,
          POSTED_FIRST_EMBEDDED,
        )),
      );
      // An engine that ends waits for the clients of its database.
      await grounds.sql.end();
      await grounds.engine.end('SIGTERM');
    }
    return {
      rows: rows.map((row) => ({ ...row })),
      ratios: ratiosOf(rows),
      figures: figuresOf(rows),
    };
  },
  parts: { autovacuum: measureAutovacuum },
};

type SmallRow = Figures & {
  readonly server: 'ours' | keyof typeof BASELINES;
  readonly store: SmallGrounds['store'];
  /**
   * `scheduled again`: as few as before the most. The memory of a process grows with its life, too.
   */
  readonly load: 'scheduled' | 'scheduled again' | 'posted' | 'half load' | 'alone';
};

async function measureOurs(
  grounds: SmallGrounds,
  most: number,
  posted: number,
  postedFirst: number,
): Promise<readonly SmallRow[]> {
  const { store, engine, demo, tagIds, sql } = grounds;
  const of = { server: 'ours', store } as const;
  const metered = { ...grounds, enginePid: engine.child.pid ?? 0 };
  const target = { baseUrl: engine.baseUrl, token: demo.superUser.token, tagIds };
  const open = openOf(sql);
  await postAll(target, postedFirst, CONNECTIONS);
  await untilNone(open);
  const rows: SmallRow[] = [];
  const rate = await measurePosted(metered, target, posted, open);
  rows.push({ ...of, load: 'posted', sends: posted, ...rate, ...NO_TIMES });
  const times = await measureRate(
    metered,
    target,
    rate.perSecond / 2,
    open,
    (jobs) =>
      sql<Times[]>`
      select id, extract(epoch from finished_at)::float8 * 1000 as "atMs",
        extract(epoch from accepted_at)::float8 * 1000 as "acceptedAtMs",
        extract(epoch from first_send_at)::float8 * 1000 as "attemptedAtMs"
      from notifications where id = any(${jobs}::uuid[])`,
  );
  rows.push({ ...of, load: 'half load', ...times });
  const untilLeft = (left = 0): Promise<number> => untilNone(open, left);
  const alone = await measureAlone({ grounds, target, untilLeft });
  if (alone !== null) rows.push({ ...of, load: 'alone', ...alone });
  const scheduling = { grounds, metered, target, untilLeft };
  for (const sends of WAITING) {
    if (sends > most) continue;
    rows.push({ ...of, load: 'scheduled', ...(await measureScheduled(scheduling, sends)) });
  }
  if (most >= WAITING_MOST) {
    const again = await measureScheduled(scheduling, WAITING_AGAIN);
    rows.push({ ...of, load: 'scheduled again', ...again });
  }
  return rows;
}

/** The servers that ours is compared with, by their entries. */
const BASELINES = { straightforward: 'push', least: 'least-push' } as const;

async function measureBaseline(
  name: keyof typeof BASELINES,
  stage: Lifetime,
  { sql: ours, postmaster, tagIds, countsStatements }: SmallGrounds,
  sink: Sink,
): Promise<readonly SmallRow[]> {
  const { host, port, database } = ours.options;
  await ours.unsafe(`create database ${name}`);
  const url = new URL(`postgres://postgres@${host[0]}:${port[0]}/${database}`);
  url.pathname = `/${name}`;
  const server = await startBaseline(stage, BASELINES[name], {
    databaseUrl: url.href,
    origin: originOf(sink),
    ca: sink.ca,
    authorization: sink.authorization,
    topic: sink.credential.bundleId,
    tokens: sink.tokens,
  });
  const sql = postgres(url.href, { max: 1, types: {} });
  stage.teardown(() => sql.end());
  const of = { server: name, store: 'postgres' } as const;
  const metered = { sql: ours, enginePid: server.pid, postmaster, countsStatements };
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
    metered,
    target,
    rate.perSecond / 2,
    open,
    (jobs) =>
      sql<Times[]>`
      select id, extract(epoch from finished_at)::float8 * 1000 as "atMs",
        null as "acceptedAtMs", null as "attemptedAtMs"
      from jobs where id = any(${jobs}::uuid[])`,
  );
  return [
    { ...of, load: 'posted', sends: POSTED, ...rate, ...NO_TIMES },
    { ...of, load: 'half load', ...times },
  ];
}

/** The row of a job: when it had its outcome, was accepted, and was first tried. */
interface Times {
  readonly id: string;
  readonly atMs: number;
  readonly acceptedAtMs: number | null;
  readonly attemptedAtMs: number | null;
}

/** From each request until the outcome is recorded, and the steps on the way. */
async function measureRate(
  metered: Metered,
  target: PushTarget,
  perSecond: number,
  open: () => Promise<number>,
  timesOf: (jobs: string[]) => Promise<readonly Times[]>,
): Promise<Figures> {
  const before = await costsSoFar(metered);
  const posted = await postAtRate(target, perSecond, RATE_SECONDS);
  await untilNone(open);
  const costs = costsOfEach(before, await costsSoFar(metered), posted.length);
  const jobs = new Map((await timesOf(posted.map(({ job }) => job))).map((row) => [row.id, row]));
  const sorted = (pick: (times: Times) => number | null): readonly number[] =>
    posted
      .flatMap(({ job, atMs }: Posted) => {
        const row = jobs.get(job);
        const reachedMs = row === undefined ? null : pick(row);
        return reachedMs === null ? [] : reachedMs - atMs;
      })
      .sort((a, b) => a - b);
  const median = (times: readonly number[]): number | null =>
    times.length === 0 ? null : percentile(times, 0.5);
  const ends = sorted(({ atMs }) => atMs);
  return {
    sends: posted.length,
    perSecond,
    ...costs,
    ...NO_TIMES,
    p50Ms: percentile(ends, 0.5),
    p99Ms: percentile(ends, 0.99),
    acceptMs: median(sorted(({ acceptedAtMs }) => acceptedAtMs)),
    attemptMs: median(sorted(({ attemptedAtMs }) => attemptedAtMs)),
  };
}

type Find = (server: SmallRow['server'], load: SmallRow['load'], sends?: number) => Figures | null;

const finderIn =
  (rows: readonly SmallRow[]): Find =>
  (server, load, sends) =>
    rows.find(
      (row) =>
        row.server === server &&
        row.store === 'postgres' &&
        row.load === load &&
        (sends === undefined || row.sends === sends),
    ) ?? null;

function ratiosOf(rows: readonly SmallRow[]): Readonly<Record<string, number | null>> {
  const find = finderIn(rows);
  const over = (a: number | null | undefined, b: number | null | undefined): number | null =>
    a == null || b == null ? null : a / b;
  const many = find('ours', 'scheduled', WAITING_MOST);
  const thousand = find('ours', 'scheduled', 1_000);
  return {
    overStraightforward: over(
      find('ours', 'posted')?.perSecond,
      find('straightforward', 'posted')?.perSecond,
    ),
    leastOverStraightforward: over(
      find('least', 'posted')?.perSecond,
      find('straightforward', 'posted')?.perSecond,
    ),
    engineOf100000Over1000: over(many?.engineMicros, thousand?.engineMicros),
    databaseOf100000Over1000: over(many?.databaseMicros, thousand?.databaseMicros),
    residentOf100000Over1000: over(many?.residentMb, find('ours', 'scheduled again')?.residentMb),
  };
}

/** How late the first attempt of a single send comes, and how much of that is others' doing. */
function figuresOf(rows: readonly SmallRow[]): Readonly<Record<string, number | null>> {
  const find = finderIn(rows);
  const alone = find('ours', 'alone');
  const beside = find('ours', 'scheduled', WAITING_MOST);
  const among = find('ours', 'scheduled', 10_000);
  const later = (a: number | null | undefined, b: number | null | undefined): number | null =>
    a == null || b == null ? null : a - b;
  return {
    urgentAmong10000Ms: among?.urgentMs ?? null,
    urgentAmong10000MostMs: among?.urgentMostMs ?? null,
    otherBeside100000LaterMs: later(beside?.otherMs, alone?.otherMs),
    otherBeside100000MostLaterMs: later(beside?.otherMostMs, alone?.otherMs),
  };
}
