/** Sets limits of a client, with the entry in the audit log. */

import type { RequestSource } from '../audit/operator-origin.ts';
import { operatorOrigin } from '../audit/operator-origin.ts';
import { recordChange } from '../audit/record-change.ts';
import type { SqlPool } from '../database/sql.ts';
import { transact } from '../database/transact.ts';
import type { ClientLimits } from '../domain/client-limits.ts';
import type { LimitChanges } from './client-limits.ts';
import { changeClientLimits, readClientLimits } from './client-limits.ts';

/** Answers all that are set then; null: no such client. Without changes it only reads. */
export function setLimits(
  sql: SqlPool,
  slug: string,
  changes: LimitChanges,
  request: RequestSource,
): Promise<ClientLimits | null> {
  const fields = Object.keys(changes);
  if (fields.length === 0) return readClientLimits(sql, slug);
  return transact(sql, async (tx) => {
    const changed = await changeClientLimits(tx, slug, changes);
    if (changed === null) return null;
    const { id, name, limits } = changed;
    const change = { action: 'client.limits', id, name, detail: { fields } } as const;
    await recordChange(tx, operatorOrigin(id, request), change);
    return limits;
  });
}
