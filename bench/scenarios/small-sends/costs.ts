/**
 * The cost of a load: CPU of the engine's process and of all processes of PostgreSQL, its
 * statements, its commits and the bytes of its log.
 */

import type { SqlPool } from '../../../src/database/sql.ts';
import { familyCpuMicros, processCpuMicros } from '../../processes.ts';

export interface Costs {
  /** Null: not measured. */
  readonly engineMicros: number | null;
  /** Null: the database is in the engine's process. */
  readonly databaseMicros: number | null;
  readonly statements: number | null;
  readonly commits: number | null;
  readonly logBytes: number | null;
}

export const NO_COSTS: Costs = {
  engineMicros: null,
  databaseMicros: null,
  statements: null,
  commits: null,
  logBytes: null,
};

export interface Metered {
  readonly sql: SqlPool;
  readonly enginePid: number;
  readonly postmaster: number | null;
  readonly countsStatements: boolean;
}

/** Since the begin of it, so far. */
export async function costsSoFar({
  sql,
  enginePid,
  postmaster,
  countsStatements,
}: Metered): Promise<Costs> {
  const engineMicros = processCpuMicros(enginePid);
  if (postmaster === null) return { ...NO_COSTS, engineMicros };
  const [counted] = countsStatements
    ? await sql<{ statements: number }[]>`
        select sum(calls)::float8 as statements from pg_stat_statements`
    : [];
  const [row] = await sql<{ commits: number; logBytes: number }[]>`
    select sum(xact_commit)::float8 as commits, (pg_current_wal_lsn() - '0/0')::float8 as "logBytes"
    from pg_stat_database`;
  return {
    engineMicros,
    databaseMicros: familyCpuMicros(postmaster),
    statements: counted?.statements ?? null,
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
    statements: each('statements'),
    commits: each('commits'),
    logBytes: each('logBytes'),
  };
}
