/** Whether all nodes at work know a migration: older ones would spoil what it is for. */

import type { Fragment, Sql } from '../sql.ts';
import { AT_WORK } from './at-work.ts';

/** A condition of a statement. `migration`: its name. */
export const everyNodeKnows = (sql: Sql, migration: string): Fragment => sql`
  not exists (
    select from nodes
    where ${sql.unsafe(AT_WORK)} and coalesce(newest_migration, '') < ${migration}
  )`;
