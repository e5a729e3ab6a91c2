/** The app and platform that a request names in its path. */

import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import type { Sql } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import type { Scope } from '../../domain/device.ts';
import { isPlatformId } from '../../domain/device.ts';
import { platformId } from '../../http/openapi/parts.ts';
import type { PathParameter } from '../../http/parameters.ts';
import { pathId } from '../../http/parameters.ts';
import { readId } from '../../http/path-id.ts';
import type { Refusal, Result } from '../../http/result.ts';
import { done, refused } from '../../http/result.ts';
import type { Asked } from '../../http/route.ts';
import { findOwnApp } from './own-app.ts';

/** 404: the app is on other platforms, or on none. */
export const isNotOn = (platformIds: readonly number[]): Refusal =>
  refused(
    404,
    `This app is not on this platform, but on ${platformIds.join(', ') || 'none'}. PATCH its platformIds to add one.`,
  );

/** Its parts of the path. */
export const SCOPE_PATH = {
  id: pathId('app', 1),
  platform: {
    ...pathId('platform', 3),
    schema: platformId,
    // The app says which platforms it is on.
    read: (text: string) => readId(text) ?? 0,
  },
} as const satisfies Readonly<Record<string, PathParameter<number>>>;

interface ScopeInPath {
  readonly id: number;
  readonly platform: number;
}

/** A handler for the caller's app, on the platform in the path. */
export const onScope =
  <Of extends Asked<Caller, ScopeInPath>, Value>(
    sql: Sql,
    handle: (scope: Scope<PlatformId>, asked: Of) => Promise<Result<Value>>,
  ) =>
  async (asked: Of): Promise<Result<Value>> => {
    const own = await findOwnApp(sql, asked.caller, asked.path.id);
    if (!own.ok) return own;
    const scope = scopeOf(own.value, asked.path.platform);
    return scope.ok ? handle(scope.value, asked) : scope;
  };

const scopeOf = (
  { id, platformIds }: { readonly id: number; readonly platformIds: readonly number[] },
  platform: number,
): Result<Scope<PlatformId>> =>
  isPlatformId(platform) && platformIds.includes(platform)
    ? done({ appId: id, platformId: platform })
    : isNotOn(platformIds);
