/**
 * Notes why a scope waits, and for how long: its provider fails for everyone, or its quota is used
 * up. The status of the notification shows it meanwhile.
 */

import type { NotificationScope } from '../../domain/notification.ts';
import type { Sql } from '../sql.ts';

export interface ScopeWait extends NotificationScope {
  readonly waitingFor: { readonly reason: string; readonly forMs: number };
}

export const setWaits = (sql: Sql, waits: readonly ScopeWait[]) => sql`
  update notification_scopes s set
    waiting_for = w.reason,
    waiting_until = now() + w.for_ms * interval '1 millisecond'
  from (
    select notification_id, app_id, platform_id, min(reason) as reason, max(for_ms) as for_ms
    from unnest(
      ${waits.map((wait) => wait.notificationId)}::uuid[],
      ${waits.map((wait) => wait.appId)}::integer[],
      ${waits.map((wait) => wait.platformId)}::smallint[],
      ${waits.map((wait) => wait.waitingFor.reason)}::text[],
      ${waits.map((wait) => wait.waitingFor.forMs)}::float8[]
    ) as w(notification_id, app_id, platform_id, reason, for_ms)
    group by notification_id, app_id, platform_id
  ) w
  where (s.notification_id, s.app_id, s.platform_id) = (w.notification_id, w.app_id, w.platform_id)`;
