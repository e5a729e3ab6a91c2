/**
 * The heartbeats of the nodes that send, by the database's clock, and the marks of dead nodes. A
 * mark is for ever: a node that was only away goes on under another id. So a claim may rely on a
 * mark that it sees, however old its snapshot is, and takes no node that has joined since for a
 * dead one.
 */

import type { Sql } from '../sql.ts';

/**
 * Adds a node, which reads the revision of sessions (decision 43). Answers its id, which no other
 * node has had or will have.
 */
export async function joinNodes(sql: Sql, host: string, pid: number): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into nodes (host, pid, reads_session_revision) values (${host}, ${pid}, true)
    returning id`;
  if (row === undefined) throw new Error('a node was not given an id');
  return row.id;
}

/** Ends a node in order: others may claim all parts that it held. */
export const leaveNodes = (sql: Sql, nodeId: number) => sql`
  update nodes set died_at = now() where id = ${nodeId} and died_at is null`;

interface BeatTerms {
  /**
   * A node that was silent for longer is dead. Only a node that has beaten for as long without a
   * break may mark it.
   */
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
  /** The nodes that this beat has found dead. */
  readonly died: readonly DeadNode[];
}

/**
 * One beat. The lock of the row decides between it and another node that is about to mark this one
 * dead: one of the two counts, never both. An outage of the database breaks the heartbeats of all
 * nodes, so all have time to come back before any is marked.
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

/**
 * Ids of the dead nodes, as an array: all that they held is free. The subquery is uncorrelated, so
 * a statement runs it once, and only if a part is held.
 */
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
