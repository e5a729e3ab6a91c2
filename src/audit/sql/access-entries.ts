/** Entries about access given or lost, in the words of the index `audit_entries_of_access`. */

import type { Fragment, Sql } from '../../database/sql.ts';

export const concernsAccess = (sql: Sql): Fragment => sql`
  (split_part(action, '.', 1) in ('client', 'credential', 'key', 'member', 'webhook') or action = 'app.delete')`;
