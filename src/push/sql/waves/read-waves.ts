/** The waves of a job, as publishers see them. */

import type { Sql } from '../../../database/sql.ts';

export interface KnownWave {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly zones: readonly string[];
  readonly hasOthers: boolean;
  readonly isSkipped: boolean;
  /** In how many (app, platform)s it was planned. */
  readonly planned: number;
  /** Parts of it are not done. */
  readonly isUnderWay: boolean;
  /** The devices that matched so far. */
  readonly total: number;
}

/** In order. None: its job has one moment. */
export const readWaves = (sql: Sql, notificationId: string) => sql<KnownWave[]>`
  select floor(extract(epoch from w.at) * 1000)::float8 as at, w.zones,
    w.has_others as "hasOthers", w.is_skipped as "isSkipped",
    coalesce(p.planned, 0)::integer as planned, coalesce(p.total, 0)::float8 as total,
    exists (
      select from chunks c
      where c.notification_id = w.notification_id and c.wave_at = w.at and c.parked_at is null
    ) as "isUnderWay"
  from push_waves w
  left join (
    select at, count(*) as planned, sum(greatest(0, coalesce(next_before, s.total, total_before) - total_before)) as total
    from (
      select *, lead(total_before) over (partition by app_id, platform_id order by at) as next_before
      from push_wave_parts where notification_id = ${notificationId}::uuid
    ) part
    left join notification_scopes s on s.notification_id = part.notification_id
      and (s.app_id, s.platform_id) = (part.app_id, part.platform_id)
    group by at
  ) p on p.at = w.at
  where w.notification_id = ${notificationId}::uuid
  order by w.at`;

/** Whether devices were left out of a job because their time had passed. */
export async function hasSkippedWaves(sql: Sql, notificationId: string): Promise<boolean> {
  const [row] = await sql`
    select from push_waves where notification_id = ${notificationId}::uuid and is_skipped limit 1`;
  return row !== undefined;
}
