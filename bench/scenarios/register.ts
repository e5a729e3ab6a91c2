/** Registrations over HTTP on PostgreSQL with fsync on: the service, a straightforward server, and a front that does nothing. */

import postgres from 'postgres';
import type { Lifetime } from '../../test/support/lifetime.ts';
import { startEngine } from '../../test/support/processes.ts';
import { findProgram } from '../../test/support/programs.ts';
import { startRedis } from '../../test/support/redis-server.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { startBaseline } from '../baselines/baseline.ts';
import { processCpuMicros } from '../cpu.ts';
import { autocannonLoad, registerKnownDevices } from '../loads/autocannon.ts';
import type { Kind, Load, Target } from '../loads/load.ts';
import { findWrk } from '../loads/wrk.ts';
import { median } from '../median.ts';
import type { Ratios, Result, Row, Scenario } from '../scenario.ts';
import { benchStores } from '../stores.ts';

const CONNECTIONS = [64, 512] as const;
/** Servers take turns, so that a minute in which the machine is busy elsewhere falls on all of them. */
const ROUNDS = 3;
const ROUND_SECONDS = 5;
const WARM_UP_SECONDS = 2;
const PLATFORM_APNS = 3;

export const register: Scenario = {
  summary: `devices with 3 tags each, ${ROUNDS} rounds of ${ROUND_SECONDS} s in turns, medians; load, server, PostgreSQL and Redis on this machine`,
  async run(stage): Promise<Result> {
    const servers = await startServers(stage);
    if (servers === null) return { rows: [] };
    const wrk = findWrk(stage);
    const loads = wrk === null ? [autocannonLoad] : [wrk, autocannonLoad];
    const cases = casesOf(servers, loads);
    for (const { server, load, kind } of cases) {
      await load.run(server.target, { connections: 64, seconds: WARM_UP_SECONDS, kind });
    }
    const rounds: RegisterRow[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const connections of CONNECTIONS) {
        for (const each of cases) rounds.push(await measure(each, connections));
      }
    }
    return summarise(rounds, loads[0] ?? autocannonLoad);
  },
};

type ServerName = 'ours' | 'straightforward' | 'bare front';

interface Server {
  readonly name: ServerName;
  readonly target: Target;
  readonly pid: number;
}

interface Case {
  readonly server: Server;
  readonly load: Load;
  readonly kind: Kind;
}

interface RegisterRow extends Row {
  readonly server: ServerName;
  readonly load: Load['name'];
  readonly kind: Kind;
  readonly connections: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** User and system time of the server's process. */
  readonly cpuMicros: number;
  readonly failures: number;
}

/** All on one PostgreSQL and one Redis, each with a database of its own. Null: no PostgreSQL is installed. */
async function startServers(stage: Lifetime): Promise<readonly Server[] | null> {
  const store = (await benchStores(stage)).find(({ name }) => name === 'postgres');
  if (store?.url === undefined) return null;
  await fillLog(store.url);
  const redisUrl = findProgram('redis-server') === null ? null : (await startRedis(stage)).url;
  if (redisUrl === null) console.log('(redis-server is not installed: without Redis)');
  const engine = await startEngine(stage, temporaryDirectory(stage), {
    ...store.environment,
    ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
  });
  const { appId, tagIds, apiUser } = engine.demo();
  const of = { appId, platformId: PLATFORM_APNS, tagIds, token: apiUser.token };
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
  for (const { target } of servers) await registerKnownDevices(target);
  return [...servers, server('bare front', front.baseUrl, front.pid)];
}

/**
 * A server that has run for a while writes its log over old segments. A new one makes each of them first, 16 MB at a time, and
 * every commit waits: whoever registers more sees it more often.
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

/** autocannon takes half of the machine for itself: it is there to be compared with what others print. */
function casesOf(servers: readonly Server[], loads: readonly Load[]): readonly Case[] {
  const [first] = loads;
  return servers.flatMap((server) => {
    const isFront = server.name === 'bare front';
    return loads.flatMap((load): Case[] => {
      if (load !== first) return isFront ? [] : [{ server, load, kind: 'new' }];
      const fresh: Case = { server, load, kind: 'new' };
      return isFront ? [fresh] : [fresh, { server, load, kind: 'mix' }];
    });
  });
}

async function measure({ server, load, kind }: Case, connections: number): Promise<RegisterRow> {
  const before = processCpuMicros(server.pid);
  const seen = await load.run(server.target, { connections, seconds: ROUND_SECONDS, kind });
  const { perSecond, p50Ms, p99Ms, failures } = seen;
  return {
    server: server.name,
    load: load.name,
    kind,
    connections,
    perSecond: Math.round(perSecond),
    p50Ms,
    p99Ms,
    cpuMicros: (processCpuMicros(server.pid) - before) / seen.answered,
    failures,
  };
}

function summarise(rounds: readonly RegisterRow[], main: Load): Result {
  const groups = new Map<string, RegisterRow[]>();
  for (const row of rounds) {
    const key = [row.kind, row.load, row.connections, row.server].join();
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const rows = [...groups.values()].flatMap((group) => {
    const [row] = group;
    return row === undefined ? [] : [{ ...row, ...mediansOf(group) }];
  });
  rows.sort((a, b) => orderOf(a) - orderOf(b));
  const share = (of: ServerName, over: ServerName, part: 'perSecond' | 'p99Ms') =>
    sharesOf(rows, main, of, over, part);
  return {
    rows,
    ratios: share('ours', 'straightforward', 'perSecond'),
    figures: {
      p99Share: share('ours', 'straightforward', 'p99Ms'),
      frontShare: share('ours', 'bare front', 'perSecond'),
    },
  };
}

const mediansOf = (rows: readonly RegisterRow[]) => {
  const of = (part: 'perSecond' | 'p50Ms' | 'p99Ms' | 'cpuMicros') =>
    median(rows.map((row) => row[part]));
  return {
    perSecond: of('perSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    cpuMicros: of('cpuMicros'),
    failures: rows.reduce((sum, { failures }) => sum + failures, 0),
  };
};

/** New devices before the mix, the load that the ratios are of before the other. */
const orderOf = ({ kind, load, connections }: RegisterRow): number =>
  Number(kind === 'mix') * 4 + Number(load === 'autocannon') * 2 + Number(connections > 64);

function sharesOf(
  rows: readonly RegisterRow[],
  main: Load,
  of: ServerName,
  over: ServerName,
  part: 'perSecond' | 'p99Ms',
): Ratios {
  const value = (server: ServerName, connections: number): number | undefined =>
    rows.find(
      (row) =>
        row.server === server &&
        row.connections === connections &&
        row.load === main.name &&
        row.kind === 'new',
    )?.[part];
  return Object.fromEntries(
    CONNECTIONS.map((connections) => {
      const [a, b] = [value(of, connections), value(over, connections)];
      return [`at${connections}`, a === undefined || b === undefined ? null : a / b];
    }),
  );
}
