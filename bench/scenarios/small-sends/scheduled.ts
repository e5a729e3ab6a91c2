/**
 * Sends that were scheduled for one moment, single ones that are pushed while these are sent, and
 * single ones with nothing beside them.
 */

import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../../median.ts';
import { processMemoryMb } from '../../processes.ts';
import type { Costs, Metered } from './costs.ts';
import { costsOfEach, costsSoFar, NO_COSTS } from './costs.ts';
import type { Figures } from './figures.ts';
import { NO_TIMES } from './figures.ts';
import type { SmallGrounds } from './grounds.ts';
import type { Posted, PushTarget } from './loads.ts';
import { NEWS, post } from './loads.ts';

/** From writing them down until they are due. */
const AHEAD_MS = 1_000;
/** Pushed singly among so many that wait: among fewer there is no queue. */
const SINGLES_AMONG = 1_000;
/** So many of each kind; among a few thousand fewer, since these must cost next to nothing. */
const SINGLES = 9;
const SINGLES_AMONG_MANY = 27;
const MANY = 10_000;
const NO_SINGLES: Singles = { moment: [], urgent: [], other: [] };
/**
 * Linux counts the processor's time in hundredths of a second: what a hundred sends take is summed
 * over rounds, until it is some tenths.
 */
const ROUNDS_SENDS = 2_000;
const ROUNDS_MAX = 20;

export interface Scheduling {
  readonly grounds: SmallGrounds;
  readonly metered: Metered;
  readonly target: PushTarget;
  /** Resolves when no more sends than these (0) are without an outcome, with their number. */
  readonly untilLeft: (left?: number) => Promise<number>;
}

/**
 * Times of single sends of another client, one after the other, from the request to the first
 * attempt. Null: there is no other client.
 */
export async function measureAlone({
  grounds: { sql, other },
  target,
  untilLeft,
}: Omit<Scheduling, 'metered'>): Promise<Figures | null> {
  if (other === null) return null;
  const times: number[] = [];
  for (let round = 0; round < SINGLES; round += 1) {
    const posted = await postOne({ ...target, ...other });
    await untilLeft();
    times.push((await firstMsOf(sql, posted)) ?? Number.NaN);
  }
  const otherMs = median(times);
  const otherMostMs = Math.max(...times);
  return { sends: SINGLES, perSecond: null, ...NO_COSTS, ...NO_TIMES, otherMs, otherMostMs };
}

/** Written down as if they had been accepted before, and due in the same moment. */
export async function measureScheduled(scheduling: Scheduling, sends: number): Promise<Figures> {
  const rounds = Math.min(ROUNDS_MAX, Math.ceil(ROUNDS_SENDS / sends));
  const figures: Figures[] = [];
  for (let round = 0; round < rounds; round += 1) {
    figures.push(await measureRound(scheduling, sends));
  }
  const middle = (name: keyof Figures): number | null => {
    const known = figures.map((one) => one[name]).filter((value) => value !== null);
    return known.length === 0 ? null : median(known);
  };
  const most = (name: keyof Figures): number | null => {
    const known = figures.map((one) => one[name]).filter((value) => value !== null);
    return known.length === 0 ? null : Math.max(...known);
  };
  const mean = (name: keyof Costs): number | null => {
    const known = figures.map((one) => one[name]).filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
  };
  return {
    sends,
    perSecond: middle('perSecond'),
    engineMicros: mean('engineMicros'),
    databaseMicros: mean('databaseMicros'),
    statements: mean('statements'),
    commits: mean('commits'),
    logBytes: mean('logBytes'),
    ...NO_TIMES,
    firstMs: middle('firstMs'),
    lastMs: middle('lastMs'),
    momentMs: middle('momentMs'),
    momentMostMs: most('momentMostMs'),
    urgentMs: middle('urgentMs'),
    urgentMostMs: most('urgentMostMs'),
    otherMs: middle('otherMs'),
    otherMostMs: most('otherMostMs'),
    residentMb: middle('residentMb'),
  };
}

async function measureRound(scheduling: Scheduling, sends: number): Promise<Figures> {
  const { grounds, metered, untilLeft } = scheduling;
  const { sql } = grounds;
  const dueMs = await schedule(grounds, sends);
  const leftMs = dueMs - Date.now();
  if (leftMs < 0) {
    throw new Error(
      `writing ${sends} sends ended ${-leftMs} ms after they were due: raise AHEAD_MS`,
    );
  }
  await sleep(leftMs);
  const before = await costsSoFar(metered);
  const memory = watchMemory(metered.enginePid);
  const singles = sends < SINGLES_AMONG ? NO_SINGLES : await postSingles(scheduling, sends);
  await untilLeft();
  const residentMb = memory.stop();
  const after = await costsSoFar(metered);
  const [times] = await sql<{ firstMs: number; lastMs: number; endMs: number }[]>`
    select extract(epoch from min(first_send_at))::float8 * 1000 - ${dueMs}::float8 as "firstMs",
      extract(epoch from max(last_send_at))::float8 * 1000 - ${dueMs}::float8 as "lastMs",
      extract(epoch from max(finished_at))::float8 * 1000 - ${dueMs}::float8 as "endMs"
    from notifications where send_at = to_timestamp(${dueMs}::float8 / 1000)`;
  const { firstMs = 0, lastMs = 0, endMs = 0 } = times ?? {};
  const [moment, urgent, other] = await Promise.all([
    firstOf(sql, singles.moment),
    firstOf(sql, singles.urgent),
    firstOf(sql, singles.other),
  ]);
  return {
    sends,
    perSecond: (sends / endMs) * 1_000,
    ...costsOfEach(before, after, sends),
    ...NO_TIMES,
    firstMs,
    lastMs,
    momentMs: moment.middleMs,
    momentMostMs: moment.mostMs,
    urgentMs: urgent.middleMs,
    urgentMostMs: urgent.mostMs,
    otherMs: other.middleMs,
    otherMostMs: other.mostMs,
    residentMb,
  };
}

/** Answers when they are due. */
async function schedule(
  { sql, clientId, demo, tagIds }: SmallGrounds,
  sends: number,
): Promise<number> {
  const [written] = await sql<{ dueMs: number }[]>`
    with written as (
      insert into notifications (
        id, client_id, user_name, state, any_tag_ids, all_tag_ids, none_tag_ids, payload, send_at
      )
      select gen_random_uuid(), ${clientId}, 'bench', 'SCHEDULED', array[(${[...tagIds]}::integer[])[1 + n % ${tagIds.length}::integer]],
        '{}', '{}', ${JSON.stringify({ ...NEWS, data: {} })}::text::json,
        moment.due
      from generate_series(1, ${sends}::integer) as n
      cross join (
        select clock_timestamp() + ${AHEAD_MS + sends / 10}::float8 * interval '1 millisecond' as due
      ) moment
      returning id, send_at
    ),
    scoped as (
      insert into notification_scopes (notification_id, app_id, platform_id, simulated)
      select id, ${demo.appId}, 3, false from written
    )
    select max(extract(epoch from send_at))::float8 * 1000 as "dueMs" from written`;
  return written?.dueMs ?? 0;
}

/** Sends of the same client for the moment, urgent ones, and of another client if there is one. */
interface Singles {
  readonly moment: readonly Posted[];
  readonly urgent: readonly Posted[];
  readonly other: readonly Posted[];
}

/** One of each at a time, spread evenly over the load. */
async function postSingles(
  { grounds: { other }, target, untilLeft }: Scheduling,
  sends: number,
): Promise<Singles> {
  const moment: Posted[] = [];
  const urgent: Posted[] = [];
  const others: Posted[] = [];
  const singles = sends < MANY ? SINGLES : SINGLES_AMONG_MANY;
  for (let n = 1; n <= singles; n += 1) {
    if ((await untilLeft(sends * (1 - n / (singles + 1)))) === 0) break;
    const posting = [postOne(target), postOne({ ...target, priority: 'urgent' as const })] as const;
    if (other !== null) others.push(await postOne({ ...target, ...other }));
    moment.push(await posting[0]);
    urgent.push(await posting[1]);
  }
  return { moment, urgent, other: others };
}

/** The median and the latest of their first attempts. */
async function firstOf(
  sql: SmallGrounds['sql'],
  all: readonly Posted[],
): Promise<{ readonly middleMs: number | null; readonly mostMs: number | null }> {
  if (all.length === 0) return { middleMs: null, mostMs: null };
  const times = await Promise.all(
    all.map(async (posted) => (await firstMsOf(sql, posted)) ?? Number.NaN),
  );
  return { middleMs: median(times), mostMs: Math.max(...times) };
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
