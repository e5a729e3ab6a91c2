/**
 * The CPU of a registration on each front: over connections that are kept, over new ones, and over
 * new ones that resume a TLS session, beside the straightforward server.
 */

import type { Lifetime } from '../../../test/support/lifetime.ts';
import { autocannonLoad } from '../../loads/autocannon.ts';
import type { Load } from '../../loads/load.ts';
import { newConnections, resumedSessions } from '../../loads/new-connections.ts';
import { findWrk } from '../../loads/wrk.ts';
import { median } from '../../median.ts';
import type { Ratios, Result } from '../../scenario.ts';
import { startFrontServers } from './front-servers.ts';
import type { Carrier, Server, ServerName } from './grounds.ts';
import { FEW_TAGS, startStores } from './grounds.ts';
import type { RegisterRow } from './rounds.ts';
import { measureRound, mediansOf } from './rounds.ts';

const CONNECTIONS = 64;
/** Odd: the median is a pair that was measured. */
const ROUNDS = 5;
const ROUND_SECONDS = 2;
const WARM_UP_SECONDS = 1;
/** Known devices that register what they have: the front is the largest part of that. */
const DEVICES = { kind: 'repeated', tags: FEW_TAGS, connections: CONNECTIONS } as const;

/** One load on each of the servers that speak so. */
interface Case {
  /** Its ratios are printed under this name; null: only its rows are. */
  readonly name: string | null;
  readonly over: Carrier;
  readonly load: Load;
}

/** The same case of each server, one after the other. */
type Turn = ReadonlyMap<ServerName, RegisterRow>;

export async function measureFronts(stage: Lifetime): Promise<Result> {
  const stores = await startStores(stage);
  if (stores === null) return { rows: [] };
  const servers = await startFrontServers(stage, stores);
  const measured = casesOf(stage).map((each) => ({ each, turns: [] as Turn[] }));
  const measure = async (server: Server, { load }: Case, seconds: number) =>
    measureRound(stores, server, load, { ...DEVICES, seconds });
  for (const { each } of measured) {
    for (const server of serversOf(each, servers)) await measure(server, each, WARM_UP_SECONDS);
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { each, turns } of measured) {
      const turn = new Map<ServerName, RegisterRow>();
      // A, B, B, A: a machine that grows slower from turn to turn is as slow for both.
      const inOrder = serversOf(each, servers);
      for (const server of round % 2 === 0 ? inOrder : inOrder.toReversed()) {
        turn.set(server.name, await measure(server, each, ROUND_SECONDS));
      }
      turns.push(turn);
    }
  }
  const over = (a: ServerName, b: ServerName): Ratios =>
    Object.fromEntries(
      measured.flatMap(({ each, turns }) =>
        each.name === null ? [] : [[each.name, medianRatio(turns, a, b)]],
      ),
    );
  return {
    rows: mediansOf(measured.flatMap(({ turns }) => turns.flatMap((turn) => [...turn.values()]))),
    figures: {
      uwsCpuOverNode: over('ours, uws', 'ours, node'),
      nodeCpuOverStraightforward: over('ours, node', 'straightforward'),
      uwsCpuOverStraightforward: over('ours, uws', 'straightforward'),
    },
  };
}

/** The ratios of kept connections are those of wrk where it is installed. */
function casesOf(stage: Lifetime): readonly Case[] {
  const wrk = findWrk(stage);
  const kept = wrk === null ? [autocannonLoad] : [wrk, autocannonLoad];
  const fresh = newConnections(stage);
  return [
    ...kept.flatMap((load, index): readonly Case[] => [
      { name: index === 0 ? 'keptPlain' : null, over: 'plain', load },
      { name: index === 0 ? 'keptTls' : null, over: 'TLS', load },
    ]),
    { name: 'newPlain', over: 'plain', load: fresh },
    { name: 'newTls', over: 'TLS', load: fresh },
    { name: 'resumedTls', over: 'TLS', load: resumedSessions(stage) },
  ];
}

const serversOf = ({ over }: Case, servers: readonly Server[]): readonly Server[] =>
  servers.filter((server) => server.over === over);

/** CPU of the server’s process for each request; null: one of the servers is not there. */
function medianRatio(turns: readonly Turn[], a: ServerName, b: ServerName): number | null {
  const ratios = turns.flatMap((turn) => {
    const [ours, other] = [turn.get(a), turn.get(b)];
    return ours === undefined || other === undefined ? [] : [ours.cpuMicros / other.cpuMicros];
  });
  return ratios.length === 0 ? null : median(ratios);
}
