/** How notifications stand that are being sent: what was ordered since their parts were claimed. */

import type { Sql } from '../../../database/sql.ts';
import { list } from '../../../database/sql.ts';
import type { NotificationState } from '../../../domain/notification.ts';
import { heldRate } from '../notifications/held-rate.ts';
import { endOf } from './retry-chain.ts';

export interface NotificationOrders {
  readonly notificationId: string;
  readonly state: NotificationState;
  readonly expiresAtMs: number | null;
  /** Whether it is held to a rate. */
  readonly isPaced: boolean;
}

export const readOrders = (sql: Sql, ids: readonly string[]) => sql<NotificationOrders[]>`
  select n.id as "notificationId", n.state, ${heldRate(sql)} is not null as "isPaced",
    floor(extract(epoch from ${endOf(sql)}) * 1000)::float8 as "expiresAtMs"
  from notifications n where n.id = any(${list(ids)}::uuid[])`;
