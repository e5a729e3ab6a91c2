/** Disables or enables a client, with its entry in the audit log. */

import type { RequestSource } from '../audit/operator-origin.ts';
import { operatorOrigin } from '../audit/operator-origin.ts';
import { recordChange } from '../audit/record-change.ts';
import type { SqlPool } from '../database/sql.ts';
import { transact } from '../database/transact.ts';
import { disableClient, enableClient } from './disable-client.ts';
import { findClient } from './find-client.ts';

/** Answers whether the client exists. A repetition changes nothing, and is not logged. */
export const setDisabled = (
  sql: SqlPool,
  slug: string,
  disabled: boolean,
  request: RequestSource,
): Promise<boolean> =>
  transact(sql, async (tx) => {
    const found = await findClient(tx, slug);
    if (found === null || found.disabled === disabled) return found !== null;
    if (!(await (disabled ? disableClient : enableClient)(tx, slug))) return false;
    const { id, name } = found;
    const action = disabled ? 'client.disable' : 'client.enable';
    await recordChange(tx, operatorOrigin(id, request), { action, id, name });
    return true;
  });
