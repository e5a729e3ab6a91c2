/**
 * Registrations over HTTP on PostgreSQL with fsync on: the service, a straightforward server, and a
 * front that does nothing.
 */

import { processCpuMicros } from '../cpu.ts';
import { autocannonLoad } from '../loads/autocannon.ts';
import type { Kind, Load } from '../loads/load.ts';
import { findWrk } from '../loads/wrk.ts';
import { median } from '../median.ts';
import type { Ratios, Result, Row, Scenario } from '../scenario.ts';
import type { RegisterGrounds, Server, ServerName } from './register/grounds.ts';
import { FEW_TAGS, MANY_TAGS, startServers } from './register/grounds.ts';

const CONNECTIONS = [64, 512] as const;
/**
 * Servers take turns, so that a minute in which the machine is busy elsewhere falls on all of them.
 */
const ROUNDS = 3;
const ROUND_SECONDS = 5;
const WARM_UP_SECONDS = 2;

export const register: Scenario = {
  summary: `devices with ${FEW_TAGS} and ${MANY_TAGS} tags, new and repeated, ${ROUNDS} rounds of ${ROUND_SECONDS} s in turns, medians; load, server, PostgreSQL and Redis on this machine`,
  async run(stage): Promise<Result> {
    const grounds = await startServers(stage);
    if (grounds === null) return { rows: [] };
    const { servers } = grounds;
    const wrk = findWrk(stage);
    const loads = wrk === null ? [autocannonLoad] : [wrk, autocannonLoad];
    const cases = casesOf(servers, loads);
    for (const { server, load, kind, tags } of cases) {
      await load.run(server.target, { connections: 64, seconds: WARM_UP_SECONDS, kind, tags });
    }
    const rounds: RegisterRow[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const connections of CONNECTIONS) {
        for (const each of cases) {
          if (!each.connections.includes(connections)) continue;
          rounds.push(await measure(grounds, each, connections));
        }
      }
    }
    return summarise(rounds, loads[0] ?? autocannonLoad);
  },
};

interface Case {
  readonly server: Server;
  readonly load: Load;
  readonly kind: Kind;
  readonly tags: number;
  readonly connections: readonly number[];
}

interface RegisterRow extends Row {
  readonly server: ServerName;
  readonly load: Load['name'];
  readonly kind: Kind;
  readonly tags: number;
  readonly connections: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** User and system time of the server's process. */
  readonly cpuMicros: number;
  /** With PostgreSQL's processes and Redis. */
  readonly allCpuMicros: number;
  readonly failures: number;
}

/**
 * autocannon takes half of the machine for itself: it is there to be compared with what others
 * print.
 */
function casesOf(servers: readonly Server[], loads: readonly Load[]): readonly Case[] {
  const [first] = loads;
  return servers.flatMap((server) => {
    const { name } = server;
    const repeated = [FEW_TAGS, MANY_TAGS].map((tags) => ({ kind: 'repeated' as const, tags }));
    return loads.flatMap((load): Case[] => {
      const fresh: Case = { server, load, kind: 'new', tags: FEW_TAGS, connections: CONNECTIONS };
      const few = { server, load, connections: [CONNECTIONS[0]] };
      if (name === 'ours, written') {
        return load === first ? repeated.map((each) => ({ ...few, ...each })) : [];
      }
      if (name === 'bare front') return load === first ? [fresh] : [];
      if (load !== first) return [fresh];
      return [
        fresh,
        { ...fresh, kind: 'mix' },
        { ...fresh, tags: MANY_TAGS },
        ...repeated.map((each) => ({ ...few, ...each })),
      ];
    });
  });
}

async function measure(
  { storesCpuMicros }: RegisterGrounds,
  { server, load, kind, tags }: Case,
  connections: number,
): Promise<RegisterRow> {
  const before = processCpuMicros(server.pid);
  const storesBefore = storesCpuMicros();
  const seen = await load.run(server.target, { connections, seconds: ROUND_SECONDS, kind, tags });
  const { perSecond, p50Ms, p99Ms, failures, answered } = seen;
  const serverMicros = processCpuMicros(server.pid) - before;
  return {
    server: server.name,
    load: load.name,
    kind,
    tags,
    connections,
    perSecond: Math.round(perSecond),
    p50Ms,
    p99Ms,
    cpuMicros: serverMicros / answered,
    allCpuMicros: (serverMicros + storesCpuMicros() - storesBefore) / answered,
    failures,
  };
}

function summarise(rounds: readonly RegisterRow[], main: Load): Result {
  const groups = new Map<string, RegisterRow[]>();
  for (const row of rounds) {
    const key = [row.kind, row.tags, row.load, row.connections, row.server].join();
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
    ratios: {
      ...share('ours', 'straightforward', 'perSecond'),
      at512Tags20: atMost(rows, main, 'new', MANY_TAGS),
      mixAt512: atMost(rows, main, 'mix', FEW_TAGS),
    },
    figures: {
      p99Share: share('ours', 'straightforward', 'p99Ms'),
      frontShare: share('ours', 'bare front', 'perSecond'),
      cpuShare: cpuShares(rows),
      repetitionCpuShare: repetitionCpuShare(rows),
    },
  };
}

const mediansOf = (rows: readonly RegisterRow[]) => {
  const of = (part: 'perSecond' | 'p50Ms' | 'p99Ms' | 'cpuMicros' | 'allCpuMicros') =>
    median(rows.map((row) => row[part]));
  return {
    perSecond: of('perSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    cpuMicros: of('cpuMicros'),
    allCpuMicros: of('allCpuMicros'),
    failures: rows.reduce((sum, { failures }) => sum + failures, 0),
  };
};

/**
 * New devices before the mix and the repeated, the load that the ratios are of before the other.
 */
const orderOf = ({ kind, tags, load, connections }: RegisterRow): number =>
  ORDER[kind] * 8 +
  Number(tags === MANY_TAGS) * 4 +
  Number(load === 'autocannon') * 2 +
  Number(connections > CONNECTIONS[0]);

const ORDER: Readonly<Record<Kind, number>> = { new: 0, mix: 1, repeated: 2 };

/** Rates at the most connections, ours over the straightforward server's. */
function atMost(rows: readonly RegisterRow[], main: Load, kind: Kind, tags: number): number | null {
  const rate = (server: ServerName): number | undefined =>
    rows.find(
      (row) =>
        row.server === server &&
        row.kind === kind &&
        row.tags === tags &&
        row.load === main.name &&
        row.connections === CONNECTIONS.at(-1),
    )?.perSecond;
  const [ours, its] = [rate('ours'), rate('straightforward')];
  return ours === undefined || its === undefined ? null : ours / its;
}

/** Of ours: CPU of all processes for a repetition over that for a new device, by tags. */
function repetitionCpuShare(rows: readonly RegisterRow[]): Ratios {
  const micros = (kind: Kind, tags: number): number =>
    rows.find(
      (row) =>
        row.server === 'ours' &&
        row.kind === kind &&
        row.tags === tags &&
        row.connections === CONNECTIONS[0],
    )?.allCpuMicros ?? Number.NaN;
  return Object.fromEntries(
    [FEW_TAGS, MANY_TAGS].map((tags) => [
      `tags${tags}`,
      micros('repeated', tags) / micros('new', tags),
    ]),
  );
}

/** CPU of all processes for an answer, ours over the straightforward server's, by kind and tags. */
function cpuShares(rows: readonly RegisterRow[]): Ratios {
  const find = (server: ServerName, kind: Kind, tags: number): number =>
    rows.find(
      (row) =>
        row.server === server &&
        row.kind === kind &&
        row.tags === tags &&
        row.connections === CONNECTIONS[0],
    )?.allCpuMicros ?? Number.NaN;
  const over = (server: ServerName, kind: Kind, tags: number): number =>
    find(server, kind, tags) / find('straightforward', kind, tags);
  const [few, many] = [FEW_TAGS, MANY_TAGS];
  return {
    [`new${few}`]: over('ours', 'new', few),
    [`new${many}`]: over('ours', 'new', many),
    [`repeated${few}`]: over('ours', 'repeated', few),
    [`repeated${many}`]: over('ours', 'repeated', many),
    [`written${few}`]: over('ours, written', 'repeated', few),
    [`written${many}`]: over('ours, written', 'repeated', many),
    manyOverFew: find('ours', 'new', many) / find('ours', 'new', few),
  };
}

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
        row.kind === 'new' &&
        row.tags === FEW_TAGS,
    )?.[part];
  return Object.fromEntries(
    CONNECTIONS.map((connections) => {
      const [a, b] = [value(of, connections), value(over, connections)];
      return [`at${connections}`, a === undefined || b === undefined ? null : a / b];
    }),
  );
}
