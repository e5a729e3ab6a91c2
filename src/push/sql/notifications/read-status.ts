/** Reads the status of a notification, scope by scope, with the reasons of failures. */

import type { Sql } from '../../../database/sql.ts';
import type { NotificationState, ShownCounts } from '../../../domain/notification.ts';
import { sumsOfBegun } from '../ledger/begun-counts.ts';
import { isReachWhole } from '../ledger/read-reach.ts';

export interface ScopeStatus extends ShownCounts {
  /** Null in the one row of a notification whose client has no app. */
  readonly appId: number | null;
  readonly platformId: number | null;
  readonly state: NotificationState;
  readonly fault: string | null;
  /** The reason why it waits at the moment, or else that of its next retry; null: none. */
  readonly waitingFor: string | null;
  readonly isSimulated: boolean;
  /** Sends of unknown end that were due to be sent again. */
  readonly uncertain: number;
  /** Devices whose deletion is held by the deletion gate. */
  readonly heldDeletions: number;
  /** Failed devices of parked parts: they are sent to when an operator releases the parts. */
  readonly parked: number;
  /** Devices that may have seen it; null: no reach is kept, or nothing is recorded yet. */
  readonly reached: number | null;
  /**
   * False: a node of an earlier version has recorded outcomes without their reach, or a part is
   * parked whose holders may have sent.
   */
  readonly isReachWhole: boolean;
  /** Count by reason; null: nothing failed. */
  readonly reasons: Readonly<Record<string, number>> | null;
}

/** At least one row. Null: the client has no such notification, or another publisher has it. */
export async function readStatus(
  sql: Sql,
  clientId: number,
  notificationId: string,
  publisher: string | null = null,
): Promise<readonly ScopeStatus[] | null> {
  const rows = await sql<ScopeStatus[]>`
    select s.app_id as "appId", s.platform_id as "platformId", n.state, s.fault,
      case when n.finished_at is null then coalesce(
        case when s.waiting_until > now() then s.waiting_for end,
        (
          select r.reason from retries r
          where (r.notification_id, r.app_id, r.platform_id) = (s.notification_id, s.app_id, s.platform_id)
            and r.attempts > 0 and r.parked_at is null
          order by r.due_at limit 1
        )
      ) end as "waitingFor",
      coalesce(s.simulated, false) as "isSimulated", coalesce(s.uncertain, 0) as uncertain,
      case when s.deletions = 'held' then s.held_deletions else 0 end as "heldDeletions",
      (
        select coalesce(sum(c.parked_devices), 0) from chunks c
        where c.parked_at is not null and c.notification_id = s.notification_id
          and c.app_id = s.app_id and c.platform_id = s.platform_id
      ) + (
        select count(*) from retries r
        where r.parked_at is not null and r.notification_id = s.notification_id
          and r.app_id = s.app_id and r.platform_id = s.platform_id
      ) as parked,
      s.reached::float8 as reached, coalesce(s.withheld, 0)::float8 as withheld,
      ${isReachWhole(sql)} as "isReachWhole",
      coalesce(s.total, 0) + b.total as total, coalesce(s.delivered, 0) + b.delivered as delivered,
      coalesce(s.failed, 0) + b.failed as failed, coalesce(s.skipped, 0) + b.skipped as skipped,
      coalesce(s.expired, 0) + b.expired as expired, coalesce(s.cancelled, 0) + b.cancelled as cancelled,
      (
        select json_object_agg(f.reason, f.count order by f.reason) from failure_reasons f
        where f.notification_id = s.notification_id
          and f.app_id = s.app_id and f.platform_id = s.platform_id
      ) as reasons
    from notifications n left join notification_scopes s on s.notification_id = n.id
    cross join lateral (
      ${sumsOfBegun(sql, sql`c.app_id = s.app_id and c.platform_id = s.platform_id`)}
    ) b
    where n.id = ${notificationId} and n.client_id = ${clientId}
      and (${publisher}::text is null or n.user_name = ${publisher})
    order by s.app_id, s.platform_id`;
  return rows.length === 0 ? null : rows;
}
