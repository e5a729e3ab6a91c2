/** Lists the (app, platform)s of sends that are due soon, for connections ahead. */

import type { Sql } from '../../../database/sql.ts';
import type { Scope } from '../../../domain/device.ts';

export interface UpcomingScope extends Scope {
  /** Devices at most: ordinals given out. */
  readonly devicesMax: number;
}

/** Those with sends due within `withinMs`, each once, at most `limit`, the next first. */
export const listUpcoming = (sql: Sql, withinMs: number, limit: number) => sql<UpcomingScope[]>`
  select s.app_id as "appId", s.platform_id as "platformId",
    p.next_ordinal as "devicesMax"
  from notifications n
  join notification_scopes s on s.notification_id = n.id
  join app_platforms p using (app_id, platform_id)
  where n.finished_at is null and n.state = 'SCHEDULED'
    and n.send_at <= now() + ${withinMs}::float8 * interval '1 millisecond'
    -- What is overdue waits to be planned, maybe a hundred thousand of them.
    and n.send_at > now() - interval '2 seconds'
  group by s.app_id, s.platform_id, p.next_ordinal
  order by min(n.send_at), s.app_id, s.platform_id
  limit ${limit}::integer`;
