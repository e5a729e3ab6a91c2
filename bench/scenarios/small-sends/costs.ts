/**
 * What a load costs: CPU of the engine's process and of all processes of PostgreSQL, its commits
 * and the bytes of its log.
 */

import { readdirSync, readFileSync } from 'node:fs';
import type { SqlPool } from '../../../src/store/sql.ts';
import { processCpuMicros } from '../../cpu.ts';

export interface Costs {
  /** Null: not measured. */
  readonly engineMicros: number | null;
  /** Null: the database is in the engine's process. */
  readonly databaseMicros: number | null;
  readonly commits: number | null;
  readonly logBytes: number | null;
}

export interface Metered {
  readonly sql: SqlPool;
  readonly enginePid: number;
  readonly postmaster: number | null;
}

/** Megabytes of a process that are in memory; of one that has ended: none. */
export function residentMbOf(pid: number): number {
  try {
    const [, kilobytes = ''] = RESIDENT.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) / 1_024;
  } catch {
    return 0;
  }
}

const RESIDENT = /^VmRSS:\s+(\d+) kB$/m;

/** Since the begin of it, so far. */
export async function costsSoFar({ sql, enginePid, postmaster }: Metered): Promise<Costs> {
  const engineMicros = processCpuMicros(enginePid);
  if (postmaster === null) {
    return { engineMicros, databaseMicros: null, commits: null, logBytes: null };
  }
  const [row] = await sql<{ commits: number; logBytes: number }[]>`
    select sum(xact_commit)::float8 as commits, (pg_current_wal_lsn() - '0/0')::float8 as "logBytes"
    from pg_stat_database`;
  return {
    engineMicros,
    databaseMicros: familyCpuMicros(postmaster),
    commits: row?.commits ?? 0,
    logBytes: row?.logBytes ?? 0,
  };
}

/** For each of so many sends. */
export function costsOfEach(before: Costs, after: Costs, sends: number): Costs {
  const each = (name: keyof Costs): number | null => {
    const [a, b] = [after[name], before[name]];
    return a === null || b === null ? null : (a - b) / sends;
  };
  return {
    engineMicros: each('engineMicros'),
    databaseMicros: each('databaseMicros'),
    commits: each('commits'),
    logBytes: each('logBytes'),
  };
}

const PROCESS = /^\d+$/;
/**
 * Hundredths of a second (USER_HZ); of /proc/<pid>/stat behind the name: parent, own time, that of
 * children who have ended (proc(5)).
 */
const TICK_MICROS = 10_000;
const PARENT_FIELD = 1;
const OWN_FIELDS = [11, 12] as const;
const ENDED_FIELDS = [13, 14] as const;

function familyCpuMicros(parent: number): number {
  const ticks = (fields: readonly string[], places: readonly number[]): number =>
    places.reduce((sum, place) => sum + Number(fields[place]), 0);
  let sum = ticks(statOf(parent), [...OWN_FIELDS, ...ENDED_FIELDS]);
  for (const name of readdirSync('/proc')) {
    if (!PROCESS.test(name)) continue;
    const fields = statOf(Number(name));
    if (Number(fields[PARENT_FIELD]) === parent) sum += ticks(fields, OWN_FIELDS);
  }
  return sum * TICK_MICROS;
}

/** Of a process that has ended meanwhile: nothing. */
function statOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  } catch {
    return [];
  }
}
