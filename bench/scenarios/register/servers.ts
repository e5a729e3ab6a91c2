/**
 * Registrations over HTTP on PostgreSQL with fsync on: the service, a straightforward server, and a
 * front that does nothing.
 */

import { autocannonLoad } from '../../loads/autocannon.ts';
import type { Kind, Load } from '../../loads/load.ts';
import { findWrk } from '../../loads/wrk.ts';
import { median } from '../../median.ts';
import { processCpuMicros } from '../../processes.ts';
import type { Ratios, Result, Row, Scenario } from '../../scenario.ts';
import type { RegisterGrounds, Server, ServerName } from './grounds.ts';
import { FEW_TAGS, MANY_TAGS, startServers } from './grounds.ts';

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
  const find = figureOf(rows, main);
  const over = (figure: Figure, a: Which, b: Which): number | null => {
    const [value, other] = [find(figure, a), find(figure, b)];
    return value === null || other === null ? null : value / other;
  };
  const [least, most] = CONNECTIONS;
  const [few, many] = [FEW_TAGS, MANY_TAGS];
  const ours = { server: 'ours', kind: 'new', tags: few, connections: least } as const;
  const its = { ...ours, server: 'straightforward' } as const;
  const atEach = (figure: Figure, server: ServerName): Ratios => ({
    [`at${least}`]: over(figure, ours, { ...ours, server }),
    [`at${most}`]: over(
      figure,
      { ...ours, connections: most },
      { ...ours, server, connections: most },
    ),
  });
  const rateAtMost = (part: Partial<Which>): number | null =>
    over(
      'perSecond',
      { ...ours, ...part, connections: most },
      { ...its, ...part, connections: most },
    );
  const cpu = (a: Partial<Which>, b: Partial<Which>): number | null =>
    over('allCpuMicros', { ...ours, ...a }, { ...ours, ...b });
  const cpuOverIts = (part: Partial<Which>): number | null =>
    cpu(part, { ...part, server: 'straightforward' });
  return {
    rows,
    ratios: {
      ...atEach('perSecond', 'straightforward'),
      at512Tags20: rateAtMost({ tags: many }),
      mixAt512: rateAtMost({ kind: 'mix' }),
    },
    figures: {
      p99Share: atEach('p99Ms', 'straightforward'),
      frontShare: atEach('perSecond', 'bare front'),
      // CPU of all processes, for an answer.
      cpuShare: {
        [`new${few}`]: cpuOverIts({}),
        [`new${many}`]: cpuOverIts({ tags: many }),
        [`repeated${few}`]: cpuOverIts({ kind: 'repeated' }),
        [`repeated${many}`]: cpuOverIts({ kind: 'repeated', tags: many }),
        [`written${few}`]: cpu(
          { server: 'ours, written', kind: 'repeated' },
          { server: 'straightforward', kind: 'repeated' },
        ),
        [`written${many}`]: cpu(
          { server: 'ours, written', kind: 'repeated', tags: many },
          { server: 'straightforward', kind: 'repeated', tags: many },
        ),
        manyOverFew: cpu({ tags: many }, {}),
      },
      repetitionCpuShare: {
        [`tags${few}`]: cpu({ kind: 'repeated' }, {}),
        [`tags${many}`]: cpu({ kind: 'repeated', tags: many }, { tags: many }),
      },
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

type Figure = 'perSecond' | 'p99Ms' | 'allCpuMicros';
type Which = Pick<RegisterRow, 'server' | 'kind' | 'tags' | 'connections'>;

/** Under one load, for autocannon takes half of the machine. Null: not measured. */
const figureOf =
  (rows: readonly RegisterRow[], main: Load) =>
  (figure: Figure, { server, kind, tags, connections }: Which): number | null =>
    rows.find(
      (row) =>
        row.load === main.name &&
        row.server === server &&
        row.kind === kind &&
        row.tags === tags &&
        row.connections === connections,
    )?.[figure] ?? null;
