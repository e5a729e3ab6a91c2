/** Notes that a key is used now. When several nodes note this within 30 seconds, one writes it. */

import type { Sql } from '../../database/sql.ts';

export async function noteKeyUse(sql: Sql, id: number): Promise<void> {
  await sql`
    update client_keys set last_used_at = now()
    where id = ${id} and (last_used_at is null or last_used_at < now() - interval '30 seconds')`;
}
