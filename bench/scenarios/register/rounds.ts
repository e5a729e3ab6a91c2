/** A round of a load on a server, as a row, and the medians of the rounds that are alike. */

import type { Kind, Load, LoadName, Round } from '../../loads/load.ts';
import { median } from '../../median.ts';
import { processCpuMicros } from '../../processes.ts';
import type { Row } from '../../scenario.ts';
import type { Carrier, Server, ServerName, Stores } from './grounds.ts';

export interface RegisterRow extends Row {
  readonly server: ServerName;
  readonly load: LoadName;
  readonly over: Carrier;
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
  readonly resumedShare: number | null;
  readonly failures: number;
}

export async function measureRound(
  { storesCpuMicros }: Pick<Stores, 'storesCpuMicros'>,
  server: Server,
  load: Load,
  round: Round,
): Promise<RegisterRow> {
  const before = processCpuMicros(server.pid);
  const storesBefore = storesCpuMicros();
  const { answered, ...seen } = await load.run(server.target, round);
  const serverMicros = processCpuMicros(server.pid) - before;
  const { kind, tags, connections } = round;
  return {
    server: server.name,
    load: load.name,
    over: server.over,
    kind,
    tags,
    connections,
    perSecond: Math.round(seen.perSecond),
    p50Ms: seen.p50Ms,
    p99Ms: seen.p99Ms,
    cpuMicros: serverMicros / answered,
    allCpuMicros: (serverMicros + storesCpuMicros() - storesBefore) / answered,
    resumedShare: seen.resumedShare,
    failures: seen.failures,
  };
}

/** One row for each server, load and size. Failures are those of all rounds. */
export function mediansOf(rounds: readonly RegisterRow[]): readonly RegisterRow[] {
  const groups = new Map<string, [RegisterRow, ...RegisterRow[]]>();
  for (const row of rounds) {
    const { kind, tags, load, over, connections, server } = row;
    const key = [kind, tags, load, over, connections, server].join();
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups.values()].map((group) => {
    const of = (part: 'perSecond' | 'p50Ms' | 'p99Ms' | 'cpuMicros' | 'allCpuMicros') =>
      median(group.map((row) => row[part]));
    const resumed = group.flatMap(({ resumedShare }) => resumedShare ?? []);
    return {
      ...group[0],
      perSecond: of('perSecond'),
      p50Ms: of('p50Ms'),
      p99Ms: of('p99Ms'),
      cpuMicros: of('cpuMicros'),
      allCpuMicros: of('allCpuMicros'),
      resumedShare: resumed.length === 0 ? null : median(resumed),
      failures: group.reduce((sum, { failures }) => sum + failures, 0),
    };
  });
}
