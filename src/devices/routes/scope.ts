/** The scope of `list` and `tags`, which report the faults of their parameters. */

import { PLATFORM_CHOICE } from '../../../packages/std/src/platforms.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Caller } from '../../domain/caller.ts';
import type { Scope } from '../../domain/device.ts';
import type { HttpRequest } from '../../http/handler.ts';
import { ID_FAULT } from '../../http/id-form.ts';
import type { Fault } from '../../http/problem.ts';
import type { Refusal, Result } from '../../http/result.ts';
import { done, refused } from '../../http/result.ts';
import type { Parameters } from './parameters.ts';
import { readParameters } from './parameters.ts';

export const PLATFORM_FAULT = {
  path: 'platformId',
  message: `must be a platform that the app is on: ${PLATFORM_CHOICE}`,
};

const BODY_FAULT = 'must be a JSON object of at most 64 KiB, in UTF-8 and not compressed';

/** A 400 that names the faulty parameters. */
export const invalidParameters = (errors: readonly Fault[]): Refusal =>
  refused(400, 'The parameters are not valid.', { errors });

export function parametersOf({ body }: HttpRequest): Result<Parameters> {
  const parameters = readParameters(body);
  return parameters === null
    ? invalidParameters([{ path: '', message: BODY_FAULT }])
    : done(parameters);
}

/** The app and platform of a request, or every fault: theirs, and the further ones. */
export async function scopeOf(
  catalogue: Catalogue,
  caller: Caller,
  { appId, platformId }: Parameters,
  furtherFaults: readonly Fault[] = [],
): Promise<Result<Scope>> {
  if (appId !== null && appId !== caller.appId) {
    return refused(403, 'This credential belongs to another app.');
  }
  const isPlatform =
    platformId !== null &&
    (appId === null || (await catalogue.hasPlatform(caller.clientId, appId, platformId)));
  const faults = [
    ...(appId === null ? [{ path: 'appId', message: ID_FAULT }] : []),
    ...(isPlatform ? [] : [PLATFORM_FAULT]),
    ...furtherFaults,
  ];
  return appId === null || !isPlatform || faults.length > 0
    ? invalidParameters(faults)
    : done({ appId, platformId });
}
