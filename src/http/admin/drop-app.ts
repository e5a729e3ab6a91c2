/** Deletes an app, for whoever administers all of the client. */

import type { Caller } from '../../access/caller.ts';
import { deleteApp } from '../../store/app-deletions/delete-app.ts';
import { readApp } from '../../store/apps/read-apps.ts';
import { recordChange } from '../../store/audit/record-change.ts';
import { lockClient } from '../../store/clients/lock-client.ts';
import type { SqlPool } from '../../store/sql.ts';
import { transact } from '../../store/transact.ts';
import { originOf } from '../audit-origin.ts';
import type { HttpRequest, HttpResponse } from '../handler.ts';
import { isLimited, outside } from '../key-limits.ts';
import { noApp } from './own-app.ts';

/** `answer`: what is said when it is gone. `id` null: nobody's. */
export function dropApp(
  sql: SqlPool,
  request: HttpRequest,
  caller: Caller,
  id: number | null,
  answer: HttpResponse,
): HttpResponse | Promise<HttpResponse> {
  // With the app go devices of all tags.
  if (isLimited(caller)) return outside(request);
  if (id === null) return noApp(request);
  const { clientId } = caller;
  return transact(sql, async (tx) => {
    await lockClient(tx, clientId);
    const app = await readApp(tx, clientId, id);
    if (app === null) return noApp(request);
    await deleteApp(tx, clientId, app);
    const change = { action: 'app.delete', id, name: app.name } as const;
    await recordChange(tx, originOf(request, caller), change);
    return answer;
  });
}
