/** Lists scopes that have condemned devices, and records decisions about these. */

import type { Sql } from '../../../database/sql.ts';
import type { NotificationScope } from '../../../domain/notification.ts';

export interface OpenDeletions extends NotificationScope {
  readonly decision: 'pending' | 'released' | 'discarded';
  readonly delivered: number;
  readonly gone: number;
  readonly refused: number;
  readonly isFinished: boolean;
}

/** Scopes with something to do, those of finished notifications first; at most `limit`. */
export const listOpenDeletions = (sql: Sql, limit: number) => sql<OpenDeletions[]>`
  select s.notification_id as "notificationId", s.app_id as "appId", s.platform_id as "platformId",
    s.deletions as decision, s.delivered, s.gone, s.refused, n.finished_at is not null as "isFinished"
  from notification_scopes s join notifications n on n.id = s.notification_id
  where s.deletions is not null and s.deletions <> 'held'
  order by n.finished_at is null, s.notification_id
  limit ${limit}`;

/**
 * Holds the deletions of a scope, and forgets its refusals: they do not count while the gate holds.
 * Returns how many devices are held; null: another node was faster.
 */
export async function holdDeletions(sql: Sql, scope: NotificationScope): Promise<number | null> {
  const { notificationId, appId, platformId } = scope;
  await forgetRefusals(sql, scope);
  const [held] = await sql<{ count: number }[]>`
    update notification_scopes s set
      deletions = case when c.count > 0 then 'held' end, held_deletions = c.count, held_at = now()
    from (
      select count(*) from condemned_devices
      where notification_id = ${notificationId} and app_id = ${appId} and platform_id = ${platformId}
        and not is_refusal
    ) c
    where s.notification_id = ${notificationId} and s.app_id = ${appId} and s.platform_id = ${platformId}
      and s.deletions = 'pending'
    returning c.count`;
  return held?.count ?? null;
}

export const forgetRefusals = (
  sql: Sql,
  { notificationId, appId, platformId }: NotificationScope,
) => sql`
  delete from condemned_devices
  where notification_id = ${notificationId} and app_id = ${appId} and platform_id = ${platformId}
    and is_refusal`;

/** Closes a scope's deletions if none is left; the caller knows that none can follow. */
export const closeDeletions = (
  sql: Sql,
  { notificationId, appId, platformId }: NotificationScope,
) => sql`
  update notification_scopes s set deletions = null
  where s.notification_id = ${notificationId} and s.app_id = ${appId} and s.platform_id = ${platformId}
    and not exists (
      select from condemned_devices c
      where c.notification_id = s.notification_id and c.app_id = s.app_id and c.platform_id = s.platform_id
    )`;

/** Discards deletions that no operator has decided about for `heldForMs`: the devices stay. */
export const discardOldDeletions = (sql: Sql, heldForMs: number) => sql`
  update notification_scopes set deletions = 'discarded'
  where deletions = 'held' and held_at <= now() - ${heldForMs}::float8 * interval '1 millisecond'`;

export interface HeldDeletions extends NotificationScope {
  readonly client: string;
  /** Devices that would be erased. */
  readonly held: number;
  readonly heldAtMs: number;
  readonly delivered: number;
}

/** Lists all held deletions, the oldest first. */
export const listHeldDeletions = (sql: Sql) => sql<HeldDeletions[]>`
  select s.notification_id as "notificationId", s.app_id as "appId", s.platform_id as "platformId",
    c.slug as client, s.held_deletions as held, s.delivered,
    floor(extract(epoch from s.held_at) * 1000)::float8 as "heldAtMs"
  from notification_scopes s
  join notifications n on n.id = s.notification_id
  join clients c on c.id = n.client_id
  where s.deletions = 'held'
  order by s.held_at, s.notification_id, s.app_id, s.platform_id`;

/** The operator's decision on all held deletions. Answers how many devices; null: none held. */
export async function decideDeletions(
  sql: Sql,
  notificationId: string,
  decision: 'released' | 'discarded',
): Promise<number | null> {
  const rows = await sql<{ held: number }[]>`
    update notification_scopes set deletions = ${decision}
    where notification_id = ${notificationId} and deletions = 'held'
    returning held_deletions as held`;
  return rows.length === 0 ? null : rows.reduce((sum, { held }) => sum + held, 0);
}
