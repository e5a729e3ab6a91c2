/** The app and platform that a request names in its path. */

import type { Sql } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import type { PlatformId, Scope } from '../../domain/device.ts';
import { isPlatformId } from '../../domain/device.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { pathId } from '../../http/path-id.ts';
import { problem } from '../../http/problem.ts';
import { ownApp } from './own-app.ts';

/** The caller's app, on the platform in the path. */
export async function withScope(
  sql: Sql,
  request: HttpRequest,
  caller: Caller,
  answer: (scope: Scope<PlatformId>) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const own = await ownApp(sql, request, caller);
  if (!own.ok) return own.response;
  const { id: appId, platformIds } = own.app;
  const platformId = pathId(request, 'platform');
  if (platformId === null || !isPlatformId(platformId) || !platformIds.includes(platformId)) {
    return notOn(request, platformIds);
  }
  return answer({ appId, platformId });
}

/** 404: the app is on other platforms, or on none. */
export const notOn = ({ requestId }: HttpRequest, platformIds: readonly number[]): HttpResponse =>
  problem(
    requestId,
    404,
    `This app is not on this platform, but on ${platformIds.join(', ') || 'none'}. PATCH its platformIds to add one.`,
  );
