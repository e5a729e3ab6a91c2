/** Estimates a running notification's devices: a chunk not looked at counts as the average. */

import type { Sql } from '../../../database/sql.ts';
import type { Scope } from '../../../domain/device.ts';

export interface ScopeEstimate extends Scope {
  /** Null: nothing of it was looked at yet. */
  readonly total: number | null;
}

/** An estimate for each scope; none for a notification that is not planned, or that has ended. */
export async function readEstimates(
  sql: Sql,
  notificationId: string,
): Promise<readonly ScopeEstimate[]> {
  const rows = await sql<PlannedScope[]>`
    select s.app_id as "appId", s.platform_id as "platformId", s.total,
      coalesce(s.planned_chunks, 0) as planned, coalesce(c.unseen, 0) as unseen,
      coalesce(c.open_devices, 0) as open
    from notification_scopes s
    left join (
      select app_id, platform_id, count(*) filter (where open_devices is null) as unseen,
        sum(open_devices) as open_devices
      from chunks
      where notification_id = ${notificationId}::uuid and parked_at is null
      group by app_id, platform_id
    ) c on (c.app_id, c.platform_id) = (s.app_id, s.platform_id)
    where s.notification_id = ${notificationId}::uuid and exists (
      select from notifications n
      join notification_scopes of_it on of_it.notification_id = n.id
      where n.id = ${notificationId}::uuid and n.finished_at is null
        and of_it.planned_chunks is not null
    )`;
  return rows.map(({ appId, platformId, ...counts }) => ({
    appId,
    platformId,
    total: estimateOf(counts),
  }));
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

type PlannedScope = Scope & Seen;

function estimateOf({ total, planned, unseen, open }: Seen): number | null {
  const found = total + open;
  if (unseen === 0) return found;
  const seen = planned - unseen;
  return seen <= 0 ? null : Math.round((found / seen) * planned);
}
