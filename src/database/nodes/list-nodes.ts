/** The nodes that send, and those that have ended of late. */

import type { Sql } from '../sql.ts';

export interface ListedNode {
  readonly id: number;
  readonly host: string;
  readonly pid: number;
  /** Its last heartbeat, by the database's clock, in milliseconds ago. */
  readonly seenAgoMs: number;
  /** It has ended, or others have taken it for dead. */
  readonly isDead: boolean;
}

/** The newest first. */
export const listNodes = (sql: Sql, limit: number): Promise<readonly ListedNode[]> =>
  sql<ListedNode[]>`
    select id, host, pid, died_at is not null as "isDead",
      greatest(0, round(extract(epoch from now() - seen_at) * 1000))::float8 as "seenAgoMs"
    from nodes order by id desc limit ${limit}`;
