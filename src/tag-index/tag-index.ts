/** The question "which devices?", answered group by group. SQL answers it today; Redis sets will (architecture, 3.1). */

import type { Audience } from '../domain/notification.ts';

/** 8,192 consecutive ordinals of one (app, platform). */
export interface GroupKey {
  readonly appId: number;
  readonly platformId: number;
  readonly groupNumber: number;
}

/** Devices of one group, in order of their offsets: parallel arrays, for they are many. */
export interface DeviceRun {
  /** Offset in the group, 0–8,191. */
  readonly offsets: Uint16Array;
  readonly deviceIds: readonly string[];
}

export interface ResolveRequest {
  readonly group: GroupKey;
  readonly audience: Audience;
  /** Ordinals at or above it are not in the audience. */
  readonly ordinalEnd: number;
  /** The group's version in PostgreSQL when the chunk was claimed; an index that is older must not answer. */
  readonly expectedVersion: number;
}

export interface TagIndex {
  /** The devices of a group that match the audience: each once, exact. */
  resolve(request: ResolveRequest): Promise<DeviceRun>;
  /** Of these ordinals of one (app, platform), the ones that still exist and still match, for retries. */
  recheck(
    scope: { readonly appId: number; readonly platformId: number },
    ordinals: readonly number[],
    audience: Audience,
  ): Promise<ReadonlyMap<number, string>>;
  /** How many devices of an (app, platform) match, now. */
  count(
    scope: { readonly appId: number; readonly platformId: number },
    audience: Audience,
  ): Promise<number>;
}
