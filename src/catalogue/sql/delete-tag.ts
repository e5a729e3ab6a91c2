/**
 * Deletes a tag for callers; housekeeping takes it off devices, then deletes the row. It leaves its
 * group, and its sourceId is free (the unique index holds live tags only).
 */

import type { Sql } from '../../database/sql.ts';

export async function deleteTag(sql: Sql, clientId: number, id: number): Promise<void> {
  await sql`
    update tags set deleted_at = now(), group_id = null
    where client_id = ${clientId} and id = ${id} and deleted_at is null`;
}
