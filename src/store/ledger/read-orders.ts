/** How notifications stand that are being sent: what was ordered since their parts were claimed. */

import type { NotificationState } from '../../domain/notification.ts';
import type { Sql } from '../sql.ts';
import { list } from '../sql.ts';

export interface NotificationOrders {
  readonly notificationId: string;
  readonly state: NotificationState;
  readonly expiresAtMs: number | null;
}

export const readOrders = (sql: Sql, ids: readonly string[]) => sql<NotificationOrders[]>`
  select id as "notificationId", state,
    floor(extract(epoch from expires_at) * 1000)::float8 as "expiresAtMs"
  from notifications where id = any(${list(ids)}::uuid[])`;
