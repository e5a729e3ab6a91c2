/** Which (app, platform) a reading request is about: `list` and `tags` say what is wrong with their parameters. */

import type { Caller } from '../../access/caller.ts';
import type { Catalogue } from '../../registration/catalogue.ts';
import type { Snapshot } from '../../registration/snapshot.ts';
import type { HttpRequest, HttpResponse } from '../handler.ts';
import type { Fault } from '../problem.ts';
import { problem } from '../problem.ts';
import type { Parameters } from './parameters.ts';
import { readParameters } from './parameters.ts';

export type Scope =
  | {
      readonly ok: true;
      readonly appId: number;
      readonly platformId: number;
      readonly parameters: Parameters;
      /** As of this request. */
      readonly snapshot: Snapshot;
    }
  | { readonly ok: false; readonly response: HttpResponse };

/** Reads appId and platformId, or makes the answer that refuses them. */
export async function readScope(
  catalogue: Catalogue,
  request: HttpRequest,
  caller: Caller,
): Promise<Scope> {
  const parameters = readParameters(request.body);
  if (parameters === null) {
    return refused(request, [{ path: '', message: 'must be a JSON object of at most 64 KiB' }]);
  }
  const { appId, platformId } = parameters;
  if (appId === null) return refused(request, [{ path: 'appId', message: 'must be an id' }]);
  if (appId !== caller.appId) {
    const detail = 'This credential belongs to another app.';
    return { ok: false, response: problem(request.requestId, 403, detail) };
  }
  const snapshot = await catalogue.fresh(caller.clientId);
  if (platformId === null || !snapshot.hasPlatform(appId, platformId)) {
    return refused(request, [{ path: 'platformId', message: 'must be a platform of the app' }]);
  }
  return { ok: true, appId, platformId, parameters, snapshot };
}

/** A 400 that names the parameters. */
export const refused = (
  request: HttpRequest,
  errors: readonly Fault[],
): { readonly ok: false; readonly response: HttpResponse } => ({
  ok: false,
  response: problem(request.requestId, 400, 'The parameters are not valid.', { errors }),
});
