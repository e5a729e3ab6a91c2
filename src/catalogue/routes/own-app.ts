/** The app that a request names in its path: the client's own, and one that the key is for. */

import type { Sql } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { coversApp, isForTags } from '../../domain/caller.ts';
import type { Result } from '../../http/result.ts';
import { done, refuse } from '../../http/result.ts';
import type { App } from '../sql/read-apps.ts';
import { readApp } from '../sql/read-apps.ts';
import { NO_APP } from './refusal.ts';

/** `whole`: the request concerns all tags of devices, so it is not for a key for some tags. */
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
