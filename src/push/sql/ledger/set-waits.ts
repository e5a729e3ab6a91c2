/** Notes why a scope waits, and for how long, for the status of its notification. */

import { NOTIFICATION_SCOPE } from '../../../database/columns.ts';
import { float8, rowsOf, text } from '../../../database/rows.ts';
import type { Sql } from '../../../database/sql.ts';
import type { NotificationScope } from '../../../domain/notification.ts';
import { isScopeOf } from './scope-of.ts';

export interface ScopeWait extends NotificationScope {
  readonly waitingFor: { readonly reason: string; readonly forMs: number };
}

export const setWaits = (sql: Sql, waits: readonly ScopeWait[]) => sql`
  update notification_scopes s set
    waiting_for = h.reason,
    waiting_until = now() + h.for_ms * interval '1 millisecond'
  from (
    select notification_id, app_id, platform_id, min(reason) as reason, max(for_ms) as for_ms
    from ${told(sql, waits)}
    group by notification_id, app_id, platform_id
  ) h
  where ${isScopeOf(sql)}`;

const told = rowsOf<ScopeWait>('told', {
  ...NOTIFICATION_SCOPE,
  reason: text(({ waitingFor }) => waitingFor.reason),
  for_ms: float8(({ waitingFor }) => waitingFor.forMs),
});
