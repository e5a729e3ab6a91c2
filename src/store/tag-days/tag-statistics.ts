/**
 * Reads the statistics of a tag: its subscribers now, and its notifications and subscriptions by
 * day.
 */

import type { Scope } from '../../domain/device.ts';
import type { Sql } from '../sql.ts';

export interface SubscribersOfApp extends Scope {
  readonly count: number;
}

/**
 * The subscribers of a tag in every (app, platform) that it is connected to, also where it has
 * none.
 */
export const subscribersByApp = (sql: Sql, tagId: number) => sql<SubscribersOfApp[]>`
  select p.app_id as "appId", p.platform_id as "platformId", (
    select coalesce(sum(s.subscribed - s.unsubscribed), 0)::bigint from tag_days s
    where s.tag_id = t.id and s.app_id = p.app_id and s.platform_id = p.platform_id
  ) as count
  from tags t
  join apps a on a.client_id = t.client_id and (t.app_ids is null or a.id = any (t.app_ids))
  join app_platforms p on p.app_id = a.id
  where t.id = ${tagId}
  order by 1, 2`;

export interface TagDay {
  /** YYYY-MM-DD, UTC. */
  readonly date: string;
  /** Notifications accepted on this day; their deliveries and failures count on this day too. */
  readonly notifications: number;
  readonly delivered: number;
  readonly failed: number;
  readonly subscribed: number;
  readonly unsubscribed: number;
  readonly lastNotificationAt: number | null;
}

/** Every day on which anything happened, oldest first. */
export const tagDays = (sql: Sql, clientId: number, tagId: number) => sql<TagDay[]>`
  with sent as (
    select n.id, n.accepted_at, (n.accepted_at at time zone 'utc')::date as day,
      coalesce(sum(s.delivered), 0) as delivered, coalesce(sum(s.failed), 0) as failed
    from notifications n
    left join notification_scopes s on s.notification_id = n.id
    where n.client_id = ${clientId} and n.any_tag_ids @> array[${tagId}::integer]
    group by n.id
  ),
  sent_days as (
    select day, count(*) as notifications, sum(delivered) as delivered, sum(failed) as failed,
      max(accepted_at) as last_at
    from sent group by day
  ),
  changed_days as (
    select day, sum(subscribed) as subscribed, sum(unsubscribed) as unsubscribed
    from tag_days where tag_id = ${tagId} and day <> '-infinity' group by day
  )
  select to_char(day, 'YYYY-MM-DD') as date,
    coalesce(notifications, 0)::bigint as notifications,
    coalesce(delivered, 0)::bigint as delivered,
    coalesce(failed, 0)::bigint as failed,
    coalesce(subscribed, 0)::bigint as subscribed,
    coalesce(unsubscribed, 0)::bigint as unsubscribed,
    floor(extract(epoch from last_at) * 1000)::bigint as "lastNotificationAt"
  from sent_days full join changed_days using (day)
  order by day`;
