/**
 * The entries of an audit log about access that was given or lost, on `audit_entries`: in the words
 * of the index `audit_entries_of_access`, so that they are counted by it.
 */

import type { Fragment, Sql } from '../../database/sql.ts';

export const concernsAccess = (sql: Sql): Fragment => sql`
  (split_part(action, '.', 1) in ('client', 'credential', 'key', 'member', 'webhook') or action = 'app.delete')`;
