/** Counts the events that webhooks have still to receive, over all clients, up to a bound. */

import type { Sql } from '../../database/sql.ts';

export interface WaitingWebhooks {
  readonly events: number;
  /** Deliveries that were tried in vain, and will be tried again. */
  readonly pendingDeliveries: number;
  /** The age of the oldest of both; 0: none waits. */
  readonly oldestSeconds: number;
}

export async function readWaitingWebhooks(sql: Sql, countedMax: number): Promise<WaitingWebhooks> {
  const [row] = await sql<WaitingWebhooks[]>`
    with events as (
      select at from webhook_events order by id limit ${countedMax}
    ),
    deliveries as (
      select created_at from webhook_deliveries where state = 'pending' limit ${countedMax}
    )
    select
      (select count(*) from events) as events,
      (select count(*) from deliveries) as "pendingDeliveries",
      coalesce(extract(epoch from now() - least(
        (select min(at) from events), (select min(created_at) from deliveries)
      )), 0)::float8 as "oldestSeconds"`;
  return row ?? { events: 0, pendingDeliveries: 0, oldestSeconds: 0 };
}
