/** The question "which devices?", answered group by group. SQL answers it today; Redis sets will (architecture, 3.1). */

import type { ApnsEnvironment } from '../domain/credential.ts';
import type { Audience } from '../domain/notification.ts';

/** 8,192 consecutive ordinals of one (app, platform). */
export interface GroupKey {
  readonly appId: number;
  readonly platformId: number;
  readonly groupNumber: number;
}

/** What earlier sends have told of a device. Few devices have one. */
export interface DeviceNote {
  /** Sends at different times that refused its token, since the last one that did not. */
  readonly refusals: number;
  /** Where APNs took its token; null: where it was asked first, as far as is known. */
  readonly environment: ApnsEnvironment | null;
}

/** Notes by ordinal: only of devices that have any. */
export type DeviceNotes = ReadonlyMap<number, DeviceNote>;

/** Devices of one group, in order of their offsets: parallel arrays, for they are many. */
export interface DeviceRun {
  /** Offset in the group, 0–8,191. */
  readonly offsets: Uint16Array;
  readonly deviceIds: readonly string[];
  readonly notes: DeviceNotes;
}

/** Devices by ordinal. */
export interface PresentDevices {
  readonly deviceIds: ReadonlyMap<number, string>;
  readonly notes: DeviceNotes;
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
  ): Promise<PresentDevices>;
  /** How many devices of an (app, platform) match, now. */
  count(
    scope: { readonly appId: number; readonly platformId: number },
    audience: Audience,
  ): Promise<number>;
}
