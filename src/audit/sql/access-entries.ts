/**
 * The entries of an audit log that tell who got or lost access, on `audit_entries`: as the index
 * `audit_entries_of_access` has it, so that they are counted by it.
 */

import type { Fragment, Sql } from '../../database/sql.ts';

export const concernsAccess = (sql: Sql): Fragment => sql`
  (split_part(action, '.', 1) in ('client', 'credential', 'key', 'member', 'webhook') or action = 'app.delete')`;
