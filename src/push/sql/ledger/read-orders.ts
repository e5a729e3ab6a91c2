/** How notifications stand that are being sent: what was ordered since their parts were claimed. */

import type { Sql } from '../../../database/sql.ts';
import { list } from '../../../database/sql.ts';
import type { NotificationState } from '../../../domain/notification.ts';

export interface NotificationOrders {
  readonly notificationId: string;
  readonly state: NotificationState;
  readonly expiresAtMs: number | null;
  /** Whether it is held to a rate. */
  readonly isPaced: boolean;
}

export const readOrders = (sql: Sql, ids: readonly string[]) => sql<NotificationOrders[]>`
  select id as "notificationId", state, rate_per_second is not null as "isPaced",
    floor(extract(epoch from expires_at) * 1000)::float8 as "expiresAtMs"
  from notifications where id = any(${list(ids)}::uuid[])`;
