/** The app that a request names in its path: the client's own, and one that the key is for. */

import type { Sql } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { coversApp, limitsTags } from '../../domain/caller.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { pathId } from '../../http/path-id.ts';
import type { Result } from '../../http/result.ts';
import { answerRefusal, done, refuse } from '../../http/result.ts';
import type { App } from '../sql/read-apps.ts';
import { readApp } from '../sql/read-apps.ts';

type OwnApp =
  | { readonly ok: true; readonly app: App }
  | { readonly ok: false; readonly response: HttpResponse };

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
  if (app === null) return refuse.unknown('app');
  const isOutside = !coversApp(caller, app.id) || (part === 'whole' && isForTags(caller));
  return isOutside ? refuse.outside() : done(app);
}

/** The same of the app in the path of a request. */
export async function ownApp(
  sql: Sql,
  request: HttpRequest,
  caller: Caller,
  part: 'whole' | 'name' = 'whole',
): Promise<OwnApp> {
  const id = pathId(request);
  const own = id === null ? refuse.unknown('app') : await findOwnApp(sql, caller, id, part);
  return own.ok
    ? { ok: true, app: own.value }
    : { ok: false, response: answerRefusal(request, own) };
}

/** Whether the caller's key is for some tags only. */
export const isForTags = ({ key }: Caller): boolean => key !== undefined && limitsTags(key);

/** 404: unknown, deleted, or another client's. */
export const noApp = (request: HttpRequest): HttpResponse =>
  answerRefusal(request, refuse.unknown('app'));
