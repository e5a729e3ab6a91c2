/** Lists parked parts (decision 39), and releases them when an operator wants them sent again. */

import type { Sql } from '../../../database/sql.ts';
import type { NotificationScope } from '../../../domain/notification.ts';
import { PARKED } from '../../../domain/progress.ts';
import { uncountEnded } from '../../../statistics/count-ended.ts';
import { lockNotifications } from './lock-notifications.ts';

export interface ParkedScope extends NotificationScope {
  readonly client: string;
  readonly devices: number;
  readonly sinceMs: number;
  /** The failure of one of its parts; null: the holders were lost. */
  readonly failure: string | null;
}

/** Lists all parked parts by scope, the latest first. */
export const listParked = (sql: Sql) => sql<ParkedScope[]>`
  with parked as (
    select notification_id, app_id, platform_id, parked_devices as devices, parked_at, last_failure
    from chunks where parked_at is not null
    union all
    select notification_id, app_id, platform_id, 1, parked_at, last_failure
    from retries where parked_at is not null
  )
  select p.notification_id as "notificationId", c.slug as client, p.app_id as "appId",
    p.platform_id as "platformId", sum(p.devices) as devices,
    floor(extract(epoch from min(p.parked_at)) * 1000)::float8 as "sinceMs", max(p.last_failure) as failure
  from parked p
  join notifications n on n.id = p.notification_id
  join clients c on c.id = n.client_id
  group by p.notification_id, c.slug, p.app_id, p.platform_id
  order by 6 desc`;

/**
 * Counts claims from zero, takes the devices out of the counts; the notification runs again.
 * Answers how many devices; null: nothing of it is parked.
 */
export async function releaseParked(tx: Sql, notificationId: string): Promise<number | null> {
  await lockNotifications(tx, [notificationId]);
  // Before its counts change: statistics take out what they have counted of it.
  await uncountEnded(tx, notificationId);
  const [row] = await tx<{ parts: number; devices: number }[]>`
    with chunks_released as (
      update chunks c set
        available_at = now(), parked_at = null, parked_devices = null,
        claims_without_progress = 0, last_failure = null
      from chunks before
      where c.notification_id = ${notificationId}::uuid and c.parked_at is not null
        and (before.notification_id, before.app_id, before.platform_id, before.group_number)
          = (c.notification_id, c.app_id, c.platform_id, c.group_number)
      returning c.app_id, c.platform_id, before.parked_devices as devices
    ),
    retries_released as (
      update retries set
        due_at = now(), parked_at = null, claims_without_progress = 0, last_failure = null
      where notification_id = ${notificationId}::uuid and parked_at is not null
      returning app_id, platform_id
    ),
    released as (
      select app_id, platform_id, devices, devices as of_chunks, 1 as chunks, 0 as retries from chunks_released
      union all
      select app_id, platform_id, 1, 0, 0, 1 from retries_released
    ),
    by_scope as (
      select app_id, platform_id, sum(devices) as devices, sum(of_chunks) as of_chunks
      from released group by app_id, platform_id
    ),
    uncounted as (
      -- Devices with a retry are in the total.
      update notification_scopes s set total = s.total - b.of_chunks, failed = s.failed - b.devices
      from by_scope b
      where s.notification_id = ${notificationId}::uuid
        and s.app_id = b.app_id and s.platform_id = b.platform_id
    ),
    unexplained as (
      update failure_reasons f set count = f.count - b.devices
      from by_scope b
      where f.notification_id = ${notificationId}::uuid and f.reason = ${PARKED}
        and f.app_id = b.app_id and f.platform_id = b.platform_id
    ),
    reopened as (
      update notifications n set
        open_chunks = n.open_chunks + r.chunks,
        open_retries = n.open_retries + r.retries,
        finished_at = null,
        state = case when n.state in ('FINISHED', 'FAILED') then 'RUNNING' else n.state end
      from (select sum(chunks) as chunks, sum(retries) as retries from released having count(*) > 0) r
      where n.id = ${notificationId}::uuid
    )
    select count(*) as parts, coalesce(sum(devices), 0) as devices from released`;
  await tx`
    delete from failure_reasons
    where notification_id = ${notificationId}::uuid and reason = ${PARKED} and count <= 0`;
  return row === undefined || row.parts === 0 ? null : row.devices;
}
