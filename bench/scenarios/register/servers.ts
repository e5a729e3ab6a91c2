/**
 * Registrations over HTTP on PostgreSQL with fsync on: the service, a straightforward server, and a
 * front that does nothing.
 */

import type { Lifetime } from '../../../test/support/lifetime.ts';
import { autocannonLoad } from '../../loads/autocannon.ts';
import type { Kind, Load } from '../../loads/load.ts';
import { findWrk } from '../../loads/wrk.ts';
import type { Ratios, Result } from '../../scenario.ts';
import type { Server, ServerName, Stores } from './grounds.ts';
import { FEW_TAGS, MANY_TAGS, startOurs, startServers, startStores } from './grounds.ts';
import type { RegisterRow } from './rounds.ts';
import { measureRound, mediansOf } from './rounds.ts';

const CONNECTIONS = [64, 512] as const;
/**
 * Servers take turns, so that a minute in which the machine is busy elsewhere falls on all of them.
 */
const ROUNDS = 3;
const ROUND_SECONDS = 5;
const WARM_UP_SECONDS = 2;

export async function measureServers(stage: Lifetime): Promise<Result> {
  const stores = await startStores(stage);
  if (stores === null) return { rows: [] };
  const servers = await startServers(stage, stores);
  const loads = loadsOf(stage);
  const rounds = await inTurns(stores, casesOf(servers, loads), CONNECTIONS);
  return summarise(rounds, loads[0]);
}

/** Our server alone, and under one load: enough to compare it with another checkout's. */
export async function measureOurs(stage: Lifetime): Promise<Result> {
  const stores = await startStores(stage);
  if (stores === null) return { rows: [] };
  const { server } = await startOurs(stage, stores);
  const [load] = loadsOf(stage);
  const cases = casesOf([server], [load]).filter(({ kind }) => kind !== 'mix');
  return { rows: mediansOf(await inTurns(stores, cases, [CONNECTIONS[0]])) };
}

/** The first is the one that ratios are of: autocannon takes half of the machine for itself. */
function loadsOf(stage: Lifetime): readonly [Load, ...Load[]] {
  const wrk = findWrk(stage);
  return wrk === null ? [autocannonLoad] : [wrk, autocannonLoad];
}

async function inTurns(
  stores: Stores,
  cases: readonly Case[],
  sizes: readonly number[],
): Promise<readonly RegisterRow[]> {
  for (const { server, load, kind, tags } of cases) {
    await load.run(server.target, { connections: 64, seconds: WARM_UP_SECONDS, kind, tags });
  }
  const rounds: RegisterRow[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const connections of sizes) {
      for (const { server, load, kind, tags, ...each } of cases) {
        if (!each.connections.includes(connections)) continue;
        const asked = { connections, seconds: ROUND_SECONDS, kind, tags };
        rounds.push(await measureRound(stores, server, load, asked));
      }
    }
  }
  return rounds;
}

interface Case {
  readonly server: Server;
  readonly load: Load;
  readonly kind: Kind;
  readonly tags: number;
  readonly connections: readonly number[];
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

function summarise(rounds: readonly RegisterRow[], main: Load): Result {
  const rows = mediansOf(rounds).toSorted((a, b) => orderOf(a) - orderOf(b));
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
