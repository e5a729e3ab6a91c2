/** Forgets idempotency keys that no longer mean anything. */

import type { Sql } from '../sql.ts';

export const purgeIdempotencyKeys = (sql: Sql) =>
  sql`delete from idempotency_keys where created_at <= now() - interval '24 hours'`;
