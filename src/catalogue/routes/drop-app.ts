/** Deletes an app, for whoever administers all of the client. */

import { recordChange } from '../../audit/record-change.ts';
import { lockClient } from '../../clients/lock-client.ts';
import type { SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { Caller } from '../../domain/caller.ts';
import { isLimited } from '../../domain/caller.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { outside } from '../../http/outside.ts';
import { deleteApp } from '../sql/delete-app.ts';
import { readApp } from '../sql/read-apps.ts';
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
