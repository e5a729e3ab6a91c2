/** Parts of the statements that record reports: what came of devices is added to their scopes. */

import type { Fragment, Sql } from '../../../database/sql.ts';
import { isScopeOf } from './scope-of.ts';

/** `sums`: a row for each scope, with what is added to each of its columns. */
export const addCounts = (sql: Sql, sums: Fragment): Fragment => sql`
  update notification_scopes s set
    uncertain = s.uncertain + h.uncertain,
    gone = s.gone + h.gone,
    refused = s.refused + h.refused,
    deletions = case when h.gone + h.refused > 0 then coalesce(s.deletions, 'pending') else s.deletions end,
    total = s.total + h.total,
    delivered = s.delivered + h.delivered,
    failed = s.failed + h.failed,
    skipped = s.skipped + h.skipped,
    expired = s.expired + h.expired,
    cancelled = s.cancelled + h.cancelled
  from (${sums}) h
  where ${isScopeOf(sql)}`;

/** `sums`: a row for each reason of a scope, with its count; in the order of the key. */
export const addReasons = (sql: Sql, sums: Fragment): Fragment => sql`
  insert into failure_reasons as f (notification_id, app_id, platform_id, reason, count)
  ${sums}
  on conflict (notification_id, app_id, platform_id, reason)
    do update set count = f.count + excluded.count`;
