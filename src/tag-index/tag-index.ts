/**
 * The question "which devices?", answered group by group. Redis answers it when there is one, and
 * SQL always can.
 */

import type { DeviceToken, PlatformOfApp } from '../domain/device.ts';
import type { DeviceNote, GroupChange, GroupKey } from '../domain/group-change.ts';
import type { Audience } from '../domain/notification.ts';
import type { Sql } from '../store/sql.ts';

/**
 * Octets of the tokens of one run. A thread's sixteen tasks hold each of theirs twice while they
 * resolve, and have 512 MB together; a full group of browsers' subscriptions has half of it, and
 * one block of the largest tokens a fifth.
 */
export const TOKEN_BYTES_MAX = 8_388_608;

/** Notes by ordinal: only of devices that have any. */
export type DeviceNotes = ReadonlyMap<number, DeviceNote>;

/** By position. An array is one. */
export interface DeviceIds {
  readonly length: number;
  at(position: number): DeviceToken | undefined;
}

/** Devices of one group, in order of their offsets: parallel arrays, for they are many. */
export interface DeviceRun {
  /** Offset in the group, 0–8,191. */
  readonly offsets: Uint16Array;
  readonly deviceIds: DeviceIds;
  readonly notes: DeviceNotes;
  /**
   * Offsets from here on, whole blocks, were left out, for all tokens together are too large.
   * Absent: all are here.
   */
  readonly endOffset?: number;
}

/** Of a group in which nobody matches. */
export const NOBODY: DeviceRun = { offsets: new Uint16Array(0), deviceIds: [], notes: new Map() };

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
  /**
   * The group's version in PostgreSQL when the chunk was claimed; an index that is older must not
   * answer.
   */
  readonly expectedVersion: number;
  /** Nobody asks for those below it, whole blocks. Absent: 0. */
  readonly firstOffset?: number;
}

export interface TagIndex {
  /** The devices of a group that match the audience: each once, exact. */
  resolve(request: ResolveRequest): Promise<DeviceRun>;
  /**
   * Of these ordinals of one (app, platform), the ones that still exist and still match, for
   * retries.
   */
  recheck(
    scope: PlatformOfApp,
    ordinals: readonly number[],
    audience: Audience,
  ): Promise<PresentDevices>;
  /**
   * How many devices of an (app, platform) match, now. `sql` is what the database is asked with,
   * for it may take seconds.
   */
  count(sql: Sql, scope: PlatformOfApp, audience: Audience): Promise<number>;
}

/** Where committed changes go that an index beside the database has to hear of. */
export interface IndexFeed {
  /**
   * Resolves when the index has them or goes without for now: it proves by its versions what it
   * has. Never rejects, for the truth is committed.
   */
  apply(changes: readonly GroupChange[]): Promise<void>;
}

/** For an index that is the database itself. */
export const NO_FEED: IndexFeed = { apply: () => Promise.resolve() };
