/**
 * The signs of life of the nodes that send, by the database's clock, and the word that one is dead.
 * That word is for ever: whoever was only away goes on under another id. So a claim that sees it
 * may rely on it, however old its snapshot is, and a node that has joined since is not taken for
 * one that has gone.
 */

import type { Sql } from '../sql.ts';

/** Joins; answers the node's id, which no other has had or will have. */
export async function joinNodes(sql: Sql, host: string, pid: number): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into nodes (host, pid) values (${host}, ${pid}) returning id`;
  if (row === undefined) throw new Error('a node was not given an id');
  return row.id;
}

/** Ends in order: all that it held may be claimed. */
export const leaveNodes = (sql: Sql, nodeId: number) => sql`
  update nodes set died_at = now() where id = ${nodeId} and died_at is null`;

export interface BeatTerms {
  /**
   * A node that was silent for longer is dead. Who says so has itself beaten for as long without a
   * break.
   */
  readonly deadAfterMs: number;
  /** Two beats that are further apart are a break. */
  readonly gapMsMax: number;
}

export interface DeadNode {
  readonly id: number;
  readonly host: string;
  readonly pid: number;
}

export interface Beat {
  /** False: others have taken it for dead, or its row was lost. */
  readonly isAlive: boolean;
  /** Those whom this beat has found dead. */
  readonly died: readonly DeadNode[];
}

/**
 * One beat. It meets whoever is about to call this node dead on the row's lock: either the beat
 * counts or his word, never both. After an outage of the database everybody's series is broken, so
 * all have time to come back before anybody judges them.
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
 * Ids of the nodes that are dead, as an array: whatever one of them held is free. An uncorrelated
 * subquery, so it is asked once in a statement, and only if something is held.
 */
export const deadNodes = (sql: Sql) => sql`array(select id from nodes where died_at is not null)`;
