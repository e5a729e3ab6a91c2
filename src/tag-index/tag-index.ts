/** Answers which devices match an audience, group by group: in Redis if set up, else in SQL. */

import type { Sql } from '../database/sql.ts';
import type { DeviceToken, Scope } from '../domain/device.ts';
import type {
  DeviceGroupChange,
  DeviceGroupKey,
  DeviceHistory,
} from '../domain/device-group-change.ts';
import type { Audience } from '../domain/notification.ts';
import type { DeviceCount } from './sample.ts';

/**
 * The sixteen tasks of a thread each hold theirs twice while they resolve, of 512 MB. A full group
 * of browser subscriptions takes half of this.
 * @limit octets of the tokens that a task resolves at once; from Redis also the rest of its last
 * blocks → as many blocks as fit; the rest of the chunk is claimed again at once
 */
export const TOKEN_BYTES_MAX = 8_388_608;

/** Notes by ordinal: only of devices that have any. */
export type DeviceHistories = ReadonlyMap<number, DeviceHistory>;

/** Tokens by position, as in an array. */
export interface DeviceIds {
  readonly length: number;
  at(position: number): DeviceToken | undefined;
}

/** Devices of one group, in order of their offsets: parallel arrays, for they are many. */
export interface DeviceRun {
  /** Offset in the group, 0–8,191. */
  readonly offsets: Uint16Array;
  readonly deviceIds: DeviceIds;
  readonly histories: DeviceHistories;
  /** Whole blocks from here on were left out, as tokens were too large. Absent: none. */
  readonly endOffset?: number;
  /** The device's language by position, from 1; 0: none. Absent: not asked, or none matches. */
  readonly languages?: Uint8Array;
  /** Named devices that are gone: they have no id. Absent: none. */
  readonly hasGone?: true;
}

/** The answer for a group in which no device matches. */
export const NOBODY: DeviceRun = {
  offsets: new Uint16Array(0),
  deviceIds: [],
  histories: new Map(),
};

export interface PresentDevices {
  readonly deviceIds: ReadonlyMap<number, string>;
  readonly histories: DeviceHistories;
  /** The languages by ordinal, as in a resolved group. Absent: not asked for. */
  readonly languages?: ReadonlyMap<number, number>;
}

/**
 * Names the languages of devices: tags, of which the first that a device has counts, or for each
 * language the values of the attribute.
 */
export type AskedLanguages = readonly number[] | readonly (readonly number[])[];

export interface ResolveRequest {
  readonly group: DeviceGroupKey;
  readonly audience: Audience;
  /** Ordinals at or above it are not in the audience. */
  readonly ordinalEnd: number;
  /** In PostgreSQL at the claim; an index that is older must not answer. */
  readonly expectedVersion: number;
  /** Whole blocks below it are not wanted. Absent: 0. */
  readonly firstOffset?: number;
  /** Devices that are not wanted: bit n of octet m is the offset 8m + n. Absent: none. */
  readonly leftOut?: Uint8Array;
  /** The devices of a named audience, in the same form. Those that are gone are answered too. */
  readonly named?: Uint8Array;
  /** At most 255. Absent: not asked for. */
  readonly askedLanguages?: AskedLanguages;
}

export interface TagIndex {
  /** The devices of a group that match the audience: each once, exact. */
  resolve(request: ResolveRequest): Promise<DeviceRun>;
  /** Those of one (app, platform) that still exist and match, for retries. */
  recheck(
    scope: Scope,
    ordinals: readonly number[],
    audience: Audience,
    askedLanguages?: AskedLanguages,
  ): Promise<PresentDevices>;
  /**
   * `sql`: for queries that may take seconds. `groupsMax`: looks at so many groups, evenly apart,
   * and concludes; absent: at all, so the count is exact.
   */
  count(sql: Sql, scope: Scope, audience: Audience, groupsMax?: number): Promise<DeviceCount>;
}

/** Takes committed changes to an index beside the database. */
export interface IndexFeed {
  /** Resolves when the index has the changes, or lacks them for now. Never rejects. */
  apply(changes: readonly DeviceGroupChange[]): Promise<void>;
  /** The groups exist no more. Never rejects: what an index then keeps of them is of no use. */
  forget(groups: readonly DeviceGroupKey[]): Promise<void>;
}

/** For an index that is the database itself. */
export const NO_FEED: IndexFeed = {
  apply: () => Promise.resolve(),
  forget: () => Promise.resolve(),
};
