/** Estimates the devices of running notifications: a chunk not looked at counts as the average. */

import type { Sql } from '../../../database/sql.ts';
import { list } from '../../../database/sql.ts';
import type { NotificationScope } from '../../../domain/notification.ts';

export interface ScopeEstimate extends NotificationScope {
  /** Null: nothing of it was looked at yet. */
  readonly total: number | null;
}

/** An estimate for each scope; none of a notification that is not planned, or that has ended. */
export async function readEstimates(
  sql: Sql,
  notificationIds: readonly string[],
): Promise<readonly ScopeEstimate[]> {
  const rows = await sql<PlannedScope[]>`
    select s.notification_id as "notificationId", s.app_id as "appId", s.platform_id as "platformId", s.total,
      coalesce(s.planned_chunks, 0) as planned, coalesce(c.unseen, 0) as unseen,
      coalesce(c.open_devices, 0) as open
    from notification_scopes s
    left join (
      select notification_id, app_id, platform_id, count(*) filter (where open_devices is null) as unseen,
        sum(open_devices) as open_devices
      from chunks
      where notification_id = any (${list(notificationIds)}::uuid[]) and parked_at is null
      group by notification_id, app_id, platform_id
    ) c on (c.notification_id, c.app_id, c.platform_id) = (s.notification_id, s.app_id, s.platform_id)
    where s.notification_id = any (${list(notificationIds)}::uuid[]) and exists (
      select from notifications n
      join notification_scopes of_it on of_it.notification_id = n.id
      where n.id = s.notification_id and n.finished_at is null
        and of_it.planned_chunks is not null
    )`;
  return rows.map(({ notificationId, appId, platformId, ...counts }) => ({
    notificationId,
    appId,
    platformId,
    total: estimateOf(counts),
  }));
}

/** The estimate of a whole notification, from its scopes. Null: one of them has none. */
export function sumOfEstimates(estimates: readonly ScopeEstimate[]): number | null {
  const totals = estimates.flatMap(({ total }) => total ?? []);
  if (totals.length === 0 || totals.length < estimates.length) return null;
  return totals.reduce((sum, total) => sum + total, 0);
}

interface Seen {
  /** Devices of the blocks that are done. */
  readonly total: number;
  readonly planned: number;
  /** Chunks that no node has looked at. */
  readonly unseen: number;
  /** Devices of the blocks that are not done, in the chunks that somebody has looked at. */
  readonly open: number;
}

type PlannedScope = NotificationScope & Seen;

function estimateOf({ total, planned, unseen, open }: Seen): number | null {
  const found = total + open;
  if (unseen === 0) return found;
  const seen = planned - unseen;
  return seen <= 0 ? null : Math.round((found / seen) * planned);
}
