/** Lists the scopes that have work for a worker now: the claimer shares its slots among them. */

import type { Sql } from '../../../database/sql.ts';
import type { NotificationScope } from '../../../domain/notification.ts';
import { heldRate } from '../notifications/held-rate.ts';
import { isAvailable, isClaimable } from './claimable-state.ts';
import { isUnheld } from './unheld.ts';

/** @limit retries of a small part → it is a large one: each batch of its retries fills a slot */
const RETRIES_OF_SMALL_MAX = 128;

export interface Claimable extends NotificationScope {
  readonly clientId: number;
  readonly hasChunks: boolean;
  readonly hasRetries: boolean;
  /** One chunk at most, few retries, no rate: many such scopes share a slot. */
  readonly isSmall: boolean;
  /** The notification was scheduled for later when it was accepted. */
  readonly isScheduled: boolean;
  readonly isUrgent: boolean;
  /** Null: it is held to no rate. */
  readonly ratePerSecond: number | null;
}

/** `among`: `large` leaves out what is small. */
export const listClaimable = (sql: Sql, among: 'all' | 'large' = 'all') => sql<Claimable[]>`
  select * from (
    select n.id as "notificationId", n.client_id as "clientId",
      s.app_id as "appId", s.platform_id as "platformId",
      n.send_at > n.accepted_at as "isScheduled", n.urgent as "isUrgent",
      ${heldRate(sql)} as "ratePerSecond",
      ${heldRate(sql)} is null and n.open_retries <= ${RETRIES_OF_SMALL_MAX} and (n.open_chunks <= 1 or not exists (
        select 1 from chunks c
        where (c.notification_id, c.app_id, c.platform_id) = (s.notification_id, s.app_id, s.platform_id)
        offset 1
      )) as "isSmall",
      n.open_chunks > 0 and exists (
        select 1 from chunks c
        where (c.notification_id, c.app_id, c.platform_id) = (s.notification_id, s.app_id, s.platform_id)
          and ${isAvailable(sql)} and ${isUnheld(sql)}
      ) as "hasChunks",
      n.open_retries > 0 and (
        exists (
          select 1 from retries r
          where (r.notification_id, r.app_id, r.platform_id) = (s.notification_id, s.app_id, s.platform_id)
            and r.due_at <= now() and ${isUnheld(sql)}
        )
        or n.state = 'CANCELLED' and exists (
          select 1 from retries r
          where (r.notification_id, r.app_id, r.platform_id) = (s.notification_id, s.app_id, s.platform_id)
            and r.parked_at is null and ${isUnheld(sql)}
        )
      ) as "hasRetries"
    from notifications n
    join notification_scopes s on s.notification_id = n.id
    where n.finished_at is null and ${isClaimable(sql)}
      and (
        ${among === 'all'}::boolean or n.open_chunks > 1 or n.open_retries > ${RETRIES_OF_SMALL_MAX}
        or ${heldRate(sql)} is not null
      )
  ) claimable
  where ("hasChunks" or "hasRetries") and (${among === 'all'}::boolean or not "isSmall")
  order by "notificationId", "appId", "platformId"`;
