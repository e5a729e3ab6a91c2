/**
 * Notes the first fault that stops a scope. A final notification stays as it is: a report from a
 * worker that lost its lease must not turn FINISHED into FAILED.
 */

import { NOTIFICATION_SCOPE } from '../../../database/columns.ts';
import { rowsOf, text } from '../../../database/rows.ts';
import type { Sql } from '../../../database/sql.ts';
import type { NotificationScope } from '../../../domain/notification.ts';
import { isScopeOf } from './scope-of.ts';

export interface ScopeFault extends NotificationScope {
  readonly fault: string;
}

export const setFaults = (sql: Sql, faults: readonly ScopeFault[]) => sql`
  update notification_scopes s set fault = h.fault
  from (
    select notification_id, app_id, platform_id, min(fault) as fault
    from ${found(sql, faults)}
    group by notification_id, app_id, platform_id
  ) h
  join notifications n on n.id = any (array[h.notification_id])
  where ${isScopeOf(sql)} and s.fault is null and n.finished_at is null`;

const found = rowsOf<ScopeFault>('found', {
  ...NOTIFICATION_SCOPE,
  fault: text(({ fault }) => fault),
});
