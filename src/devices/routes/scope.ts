/**
 * Reads the scope of a `list` or `tags` request. These endpoints report the faults of their
 * parameters.
 */

import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Caller } from '../../domain/caller.ts';
import type { Scope } from '../../domain/device.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { ID_FAULT } from '../../http/id-form.ts';
import type { Fault } from '../../http/problem.ts';
import { problem } from '../../http/problem.ts';
import type { Parameters } from './parameters.ts';
import { readParameters } from './parameters.ts';

type ReadScope =
  | ({ readonly ok: true; readonly parameters: Parameters } & Scope)
  | { readonly ok: false; readonly response: HttpResponse };

export const PLATFORM_FAULT = {
  path: 'platformId',
  message: 'must be a platform that the app is on: 3 (iOS), 7 (web) or 15 (Android)',
};

const BODY_FAULT = 'must be a JSON object of at most 64 KiB, in UTF-8 and not compressed';

/**
 * Reads appId and platformId, or makes the answer that names every fault: theirs, and those that
 * `furtherFaults` finds.
 */
export async function readScope(
  catalogue: Catalogue,
  request: HttpRequest,
  caller: Caller,
  furtherFaults: (parameters: Parameters) => readonly Fault[] = () => [],
): Promise<ReadScope> {
  const parameters = readParameters(request.body);
  if (parameters === null) {
    return refused(request, [{ path: '', message: BODY_FAULT }]);
  }
  const { appId, platformId } = parameters;
  if (appId !== null && appId !== caller.appId) {
    const detail = 'This credential belongs to another app.';
    return { ok: false, response: problem(request.requestId, 403, detail) };
  }
  const isPlatform =
    platformId !== null &&
    (appId === null || (await catalogue.hasPlatform(caller.clientId, appId, platformId)));
  const faults = [
    ...(appId === null ? [{ path: 'appId', message: ID_FAULT }] : []),
    ...(isPlatform ? [] : [PLATFORM_FAULT]),
    ...furtherFaults(parameters),
  ];
  if (appId === null || !isPlatform || faults.length > 0) return refused(request, faults);
  return { ok: true, appId, platformId, parameters };
}

/** A 400 that names the faulty parameters. */
export const refused = (
  request: HttpRequest,
  errors: readonly Fault[],
): { readonly ok: false; readonly response: HttpResponse } => ({
  ok: false,
  response: problem(request.requestId, 400, 'The parameters are not valid.', { errors }),
});
