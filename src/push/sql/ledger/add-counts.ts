/** Parts of the statements that record reports: what came of devices is added to their scopes. */

import type { Fragment, Sql } from '../../../database/sql.ts';
import { isScopeOf } from './scope-of.ts';

/**
 * `sums`: a row for each scope, with what is added to each of its columns. `reach_words`: of
 * devices of its only group; null: none, or they are kept elsewhere (keep-reach.ts).
 */
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
    cancelled = s.cancelled + h.cancelled,
    reached = coalesce(s.reached, 0) + h.reached,
    reach_noted = coalesce(s.reach_noted, 0) + h.delivered + h.uncertain,
    reach_words = case
      when h.reach_words is null then s.reach_words
      else coalesce(s.reach_words, int4send(h.group_number)) || h.reach_words end
  from (${sums}) h
  where ${isScopeOf(sql)}`;

/** `sums`: a row for each reason of a scope, with its count; in the order of the key. */
export const addReasons = (sql: Sql, sums: Fragment): Fragment => sql`
  insert into failure_reasons as f (notification_id, app_id, platform_id, reason, count)
  ${sums}
  on conflict (notification_id, app_id, platform_id, reason)
    do update set count = f.count + excluded.count`;
