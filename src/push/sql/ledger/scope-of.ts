/** Finds the scope of a notification by its key alone (PLANS_ARE_KEPT). */

import type { Sql } from '../../../database/sql.ts';

/** Whether row `s` of `notification_scopes` is the scope that a row `h` is about. */
export const isScopeOf = (sql: Sql) => sql`
  s.notification_id = any (array[h.notification_id])
    and (s.app_id, s.platform_id) = (h.app_id, h.platform_id)`;
