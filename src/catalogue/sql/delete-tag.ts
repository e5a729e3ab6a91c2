/**
 * Deletes a tag, at once for all callers; housekeeping later removes it from its devices, and then
 * deletes its row. The tag leaves its group, so that the group can be deleted, and its sourceId is
 * free again (the unique index holds live tags only).
 */

import type { Sql } from '../../database/sql.ts';

export async function deleteTag(sql: Sql, clientId: number, id: number): Promise<void> {
  await sql`
    update tags set deleted_at = now(), group_id = null
    where client_id = ${clientId} and id = ${id} and deleted_at is null`;
}
