/** The app that a request names in its path: the client's own, and one that the key is for. */

import type { Sql } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { coversApp, isForTags } from '../../domain/caller.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { pathId } from '../../http/path-id.ts';
import type { Result } from '../../http/result.ts';
import { answerRefusal, done, refuse } from '../../http/result.ts';
import type { App } from '../sql/read-apps.ts';
import { readApp } from '../sql/read-apps.ts';
import { NO_APP } from './refusal.ts';

/**
 * `whole`: the request concerns all devices of the app, or a device with all of its tags. A key for
 * some tags only has nothing to do with that.
 */
export async function findOwnApp(
  sql: Sql,
  caller: Caller,
  id: number,
  part: 'whole' | 'name' = 'whole',
): Promise<Result<App>> {
  const app = await readApp(sql, caller.clientId, id);
  if (app === null) return NO_APP;
  const isOutside = !coversApp(caller, id) || (part === 'whole' && isForTags(caller));
  return isOutside ? refuse.outside() : done(app);
}

type OwnApp =
  | { readonly ok: true; readonly app: App }
  | { readonly ok: false; readonly response: HttpResponse };

/** The same for handlers that read their path themselves. */
export async function ownApp(
  sql: Sql,
  request: HttpRequest,
  caller: Caller,
  part?: 'whole' | 'name',
): Promise<OwnApp> {
  const id = pathId(request);
  const own = id === null ? NO_APP : await findOwnApp(sql, caller, id, part);
  return own.ok
    ? { ok: true, app: own.value }
    : { ok: false, response: answerRefusal(request, own) };
}
