/** How much waits to be sent, over all clients. Counted up to a bound: more would take long. */

import type { Sql } from '../../database/sql.ts';

export interface QueueReading {
  /** Push jobs that have not ended, by their state. */
  readonly jobs: Readonly<Record<string, number>>;
  /** Parts of them, of up to 8,192 devices each. */
  readonly chunks: number;
  /** Devices that are tried again. */
  readonly retries: number;
}

export async function readQueue(sql: Sql, countedMax: number): Promise<QueueReading> {
  const [row] = await sql<QueueReading[]>`
    select
      coalesce((
        select json_object_agg(state, count) from (
          select state, count(*) as count from (
            select state from notifications where finished_at is null limit ${countedMax}
          ) as unfinished group by state
        ) as by_state
      ), '{}') as jobs,
      (select count(*) from (select from chunks limit ${countedMax}) as some_chunks) as chunks,
      (select count(*) from (select from retries limit ${countedMax}) as some_retries) as retries`;
  return row ?? { jobs: {}, chunks: 0, retries: 0 };
}
