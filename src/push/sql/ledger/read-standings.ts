/** Reads the state of notifications and scopes, for the replies to workers' reports. */

import type { Sql } from '../../../database/sql.ts';
import { list } from '../../../database/sql.ts';
import type { NotificationScope, NotificationState } from '../../../domain/notification.ts';

export interface ScopeStanding extends NotificationScope {
  readonly state: NotificationState;
  readonly fault: string | null;
  readonly hasDelivered: boolean;
}

export const readStandings = (sql: Sql, ids: readonly string[]) => sql<ScopeStanding[]>`
  select s.notification_id as "notificationId", s.app_id as "appId", s.platform_id as "platformId",
    n.state, s.fault, s.delivered > 0 as "hasDelivered"
  from notifications n join notification_scopes s on s.notification_id = any (array[n.id])
  where n.id = any(${list(ids)}::uuid[])`;
