/** Deletes a client, with the entry in the audit log. */

import type { RequestSource } from '../audit/operator-origin.ts';
import { operatorOrigin } from '../audit/operator-origin.ts';
import { recordChange } from '../audit/record-change.ts';
import { findClient } from '../clients/find-client.ts';
import type { SqlPool } from '../database/sql.ts';
import { transact } from '../database/transact.ts';
import { deleteClient } from './sql/delete-client.ts';

/** Two steps, disabled and then deleted, because the second one cannot be taken back. */
export const removeClient = (
  sql: SqlPool,
  slug: string,
  request: RequestSource,
): Promise<'deleted' | 'enabled' | 'unknown'> =>
  transact(sql, async (tx) => {
    const found = await findClient(tx, slug);
    if (found === null) return 'unknown';
    const { id, name } = found;
    const ended = await deleteClient(tx, slug);
    if (ended === 'deleted') {
      await recordChange(tx, operatorOrigin(id, request), { action: 'client.delete', id, name });
    }
    return ended;
  });
