/**
 * The heartbeats of the nodes that send, by the database's clock. A mark of death is for ever: a
 * node that comes back has another id. So a claim may rely on a mark, however old its snapshot is.
 */

import { MIGRATIONS } from '../migrate.ts';
import type { Sql } from '../sql.ts';

/**
 * Reads the revision of sessions (decision 43), and says up to which migration it knows the tables.
 * Answers an id that no other node ever has.
 */
export async function joinNodes(sql: Sql, host: string, pid: number): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into nodes (host, pid, reads_session_revision, newest_migration)
    values (${host}, ${pid}, true, ${MIGRATIONS.at(-1)?.name ?? null})
    returning id`;
  if (row === undefined) throw new Error('a node was not given an id');
  return row.id;
}

/** Ends a node in order: others may claim all parts that it held. */
export const leaveNodes = (sql: Sql, nodeId: number) => sql`
  update nodes set died_at = now() where id = ${nodeId} and died_at is null`;

/** Ends every node, where it is known that none is at work. */
export const endAllNodes = (sql: Sql) => sql`
  update nodes set died_at = now() where died_at is null`;

interface BeatTerms {
  /** A silent node is dead after this; only one that beat for as long, unbroken, may mark it. */
  readonly deadAfterMs: number;
  /** Two beats that are further apart are a break. */
  readonly gapMsMax: number;
}

interface DeadNode {
  readonly id: number;
  readonly host: string;
  readonly pid: number;
}

export interface Beat {
  /** False: another node has marked it dead, or its row was lost. */
  readonly isAlive: boolean;
  readonly died: readonly DeadNode[];
}

/**
 * The row's lock decides between it and a node that marks this one dead. An outage breaks all
 * nodes' beats, so all have time to come back before any is marked.
 */
export async function beat(
  sql: Sql,
  nodeId: number,
  { deadAfterMs, gapMsMax }: BeatTerms,
): Promise<Beat> {
  const [row] = await sql<Beat[]>`
    with beaten as (
      update nodes set
        seen_at = now(),
        beating_since = case
          when seen_at < now() - ${gapMsMax}::float8 * interval '1 millisecond' then now()
          else beating_since end
      where id = ${nodeId} and died_at is null
      returning beating_since
    ),
    silent as (
      -- It waits for nobody, and holds its own row already: no two nodes wait for each other.
      select n.id from beaten b, nodes n
      where b.beating_since <= now() - ${deadAfterMs}::float8 * interval '1 millisecond'
        and n.seen_at < now() - ${deadAfterMs}::float8 * interval '1 millisecond'
        and n.died_at is null
      for update of n skip locked
    ),
    died as (
      update nodes n set died_at = now() from silent s where n.id = s.id
      returning n.id, n.host, n.pid
    )
    select exists (select from beaten) as "isAlive",
      coalesce((select json_agg(died) from died), '[]') as died`;
  if (row === undefined) throw new Error('a beat was not answered');
  return row;
}

/** An array; all that they held is free. Uncorrelated: it runs once, and only if a part is held. */
export const deadNodes = (sql: Sql) => sql`array(select id from nodes where died_at is not null)`;

/** Deletes nodes that died before a time. Answers how many, at most `limit`. */
export async function deleteDeadNodes(
  sql: Sql,
  deadBeforeMs: number,
  limit: number,
): Promise<number> {
  const deleted = await sql`
    delete from nodes where id in (
      select id from nodes
      where died_at < to_timestamp(${deadBeforeMs}::float8 / 1000)
      order by id limit ${limit}
    )`;
  return deleted.count;
}
