/**
 * Adds to the reach of a group's devices, in the statements that record reports (decision 74).
 * Words come after those that are there, and a report counts once, so each device is there once.
 */

import type { Fragment, Sql } from '../../../database/sql.ts';

/** `reached`: a row for each group with devices that were reached, with their words. */
export const keepReach = (sql: Sql, reached: Fragment): Fragment => sql`
  insert into push_reach as p (notification_id, app_id, platform_id, group_number, words)
  ${reached}
  on conflict (notification_id, app_id, platform_id, group_number)
    do update set words = p.words || excluded.words`;
