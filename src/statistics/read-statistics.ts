/** Reads the statistics of a tag or an app: subscribers now, and changes by day. */

import type { Sql } from '../database/sql.ts';
import type { Scope } from '../domain/device.ts';
import { ANY_TAG } from './record-changes.ts';

export type Subject =
  | { readonly kind: 'tag'; readonly id: number; readonly clientId: number }
  | { readonly kind: 'app'; readonly id: number; readonly clientId: number };

interface SubscribersOfApp extends Scope {
  readonly count: number;
}

/**
 * The subscribers of a tag in every (app, platform) that it is connected to, or of an app on each
 * of its platforms: devices with any tag. Also where there are none.
 */
export const subscribersByApp = (sql: Sql, { kind, id, clientId }: Subject) => sql<
  SubscribersOfApp[]
>`
  select p.app_id as "appId", p.platform_id as "platformId", (
    select greatest(0, coalesce(sum(s.subscribed - s.unsubscribed), 0))::bigint from tag_days s
    where s.tag_id = ${kind === 'tag' ? id : ANY_TAG} and s.app_id = p.app_id and s.platform_id = p.platform_id
  ) as count
  from apps a
  join app_platforms p on p.app_id = a.id
  where a.client_id = ${clientId}
    and ${
      kind === 'app'
        ? sql`a.id = ${id}`
        : sql`exists (select from tags t where t.id = ${id} and (t.app_ids is null or a.id = any (t.app_ids)))`
    }
  order by 1, 2`;

export interface StatisticsDay {
  /** YYYY-MM-DD, UTC; null: all days before those that are kept. */
  readonly date: string | null;
  /** Notifications accepted on this day; their deliveries and failures count on this day too. */
  readonly notifications: number;
  readonly delivered: number;
  readonly failed: number;
  readonly subscribed: number;
  readonly unsubscribed: number;
  readonly lastNotificationAt: number | null;
}

/** Every day on which anything happened, oldest first. One statement, so each counts once. */
export const statisticsDays = (sql: Sql, subject: Subject) => sql<StatisticsDay[]>`
  with sent as (
    select day, notifications, delivered, failed, last_accepted_at
    from notification_days where object_id = ${subject.id}
    union all
    ${uncounted(sql, subject)}
  ),
  sent_days as (
    select day, sum(notifications) as notifications, sum(delivered) as delivered, sum(failed) as failed,
      max(last_accepted_at) as last_at
    from sent group by day
  ),
  changed_days as (
    select day, sum(subscribed) as subscribed, sum(unsubscribed) as unsubscribed
    from tag_days where ${changesOf(sql, subject)} group by day
  )
  select case when isfinite(day) then to_char(day, 'YYYY-MM-DD') end as date,
    coalesce(notifications, 0)::bigint as notifications,
    coalesce(delivered, 0)::bigint as delivered,
    coalesce(failed, 0)::bigint as failed,
    coalesce(subscribed, 0)::bigint as subscribed,
    coalesce(unsubscribed, 0)::bigint as unsubscribed,
    floor(extract(epoch from last_at) * 1000)::bigint as "lastNotificationAt"
  from sent_days full join changed_days using (day)
  order by day`;

/** The notifications that no day counts yet: few, and an index finds each kind of them. */
const uncounted = (sql: Sql, subject: Subject) => sql`
    select (n.accepted_at at time zone 'utc')::date, 1, c.delivered, c.failed, n.accepted_at
    from (
      select id, client_id, accepted_at, any_tag_ids from notifications where finished_at is null
      union all
      select id, client_id, accepted_at, any_tag_ids from notifications
      where finished_at is not null and not is_end_listed
      union all
      select n.id, n.client_id, n.accepted_at, n.any_tag_ids
      from ended_notifications e join notifications n on n.id = e.notification_id
      where n.finished_at is not null and n.is_end_listed
    ) n
    cross join lateral (
      select count(*) as scopes, coalesce(sum(s.delivered), 0) as delivered, coalesce(sum(s.failed), 0) as failed
      from notification_scopes s
      where s.notification_id = n.id ${subject.kind === 'app' ? sql`and s.app_id = ${subject.id}` : sql``}
    ) c
    where n.client_id = ${subject.clientId}
      and ${subject.kind === 'app' ? sql`c.scopes > 0` : sql`n.any_tag_ids @> array[${subject.id}::integer]`}`;

const changesOf = (sql: Sql, { kind, id }: Subject) =>
  kind === 'tag' ? sql`tag_id = ${id}` : sql`tag_id = ${ANY_TAG} and app_id = ${id}`;
