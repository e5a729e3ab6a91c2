/** Sets limits of a client, with the entry in the audit log. */

import { operatorOrigin } from '../audit/operator-origin.ts';
import { recordChange } from '../audit/record-change.ts';
import type { SqlPool } from '../database/sql.ts';
import { transact } from '../database/transact.ts';
import type { ClientLimits } from '../domain/client-limits.ts';
import type { LimitChanges } from './client-limits.ts';
import { changeClientLimits } from './client-limits.ts';

/** Answers all that are set then; null: there is no such client. */
export const setLimits = (
  sql: SqlPool,
  slug: string,
  changes: LimitChanges,
): Promise<ClientLimits | null> =>
  transact(sql, async (tx) => {
    const changed = await changeClientLimits(tx, slug, changes);
    if (changed === null) return null;
    const { id, name, limits } = changed;
    const detail = { fields: Object.keys(changes) };
    await recordChange(tx, operatorOrigin(id), { action: 'client.limits', id, name, detail });
    return limits;
  });
