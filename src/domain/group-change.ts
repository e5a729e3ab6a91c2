/**
 * The changes of a transaction in a device group, for a tag index beside the database. The index
 * applies them only on top of the version before; otherwise it has missed a change.
 */

import type { ApnsEnvironment } from './credential.ts';
import type { PlatformOfApp } from './device.ts';
import { groupOf, offsetOf } from './device.ts';

/** 8,192 consecutive ordinals of one (app, platform). */
export interface GroupKey extends PlatformOfApp {
  readonly groupNumber: number;
}

/** A group whose version a transaction raised, and the version that it has from the commit on. */
export interface RaisedGroup extends GroupKey {
  readonly version: number;
}

export interface DevicePlace extends PlatformOfApp {
  readonly ordinal: number;
}

/** A tag of a device. */
export interface Subscription extends DevicePlace {
  readonly tagId: number;
}

/** The device observations of earlier sends. Few devices have a note. */
export interface DeviceNote {
  /**
   * Sends at different times in which its token was refused, since the last one in which it was
   * not.
   */
  readonly refusals: number;
  /** The APNs environment that took its token; null: the one tried first, as far as is known. */
  readonly environment: ApnsEnvironment | null;
}

/** Edits to devices of any groups. An edit that changes nothing does no harm. */
export interface Edits {
  /** Devices that are new, or have another token; null: erased, with notes and tags. */
  readonly tokens?: readonly (DevicePlace & { readonly deviceId: string | null })[];
  readonly added?: readonly Subscription[];
  /** No subscription is in `added` too. */
  readonly removed?: readonly Subscription[];
  /** The notes of devices from now on. */
  readonly notes?: readonly (DevicePlace & { readonly note: DeviceNote })[];
}

/** Offsets of a group, by tag. */
export type TagOffsets = ReadonlyMap<number, readonly number[]>;

/** One transaction's change of one group: everything by offset, 0–8,191. */
export interface GroupChange extends RaisedGroup {
  readonly tokens: ReadonlyMap<number, string | null>;
  readonly added: TagOffsets;
  readonly removed: TagOffsets;
  readonly notes: ReadonlyMap<number, DeviceNote>;
}

interface Growing extends RaisedGroup {
  readonly tokens: Map<number, string | null>;
  readonly added: Map<number, number[]>;
  readonly removed: Map<number, number[]>;
  readonly notes: Map<number, DeviceNote>;
}

/**
 * Sorts the edits into the groups that were raised. An edit in another group changed nothing, or
 * that group would have been raised.
 */
export function changesOf(raised: readonly RaisedGroup[], edits: Edits): readonly GroupChange[] {
  const changes = new Map<string, Growing>();
  for (const group of raised) changes.set(groupKeyOf(group), begin(group));
  let before: DevicePlace | undefined;
  let last: Growing | undefined;
  // Most edits are in the same group as the edit before, so the key need not be built and hashed
  // again.
  const changeOf = (place: DevicePlace): Growing | undefined => {
    if (before !== undefined && isSameGroup(place, before)) return last;
    const { appId, platformId, ordinal } = place;
    before = place;
    last = changes.get(groupKeyOf({ appId, platformId, groupNumber: groupOf(ordinal) }));
    return last;
  };
  for (const edit of edits.tokens ?? []) {
    changeOf(edit)?.tokens.set(offsetOf(edit.ordinal), edit.deviceId);
  }
  for (const edit of edits.added ?? []) {
    push(changeOf(edit)?.added, edit.tagId, offsetOf(edit.ordinal));
  }
  for (const edit of edits.removed ?? []) {
    push(changeOf(edit)?.removed, edit.tagId, offsetOf(edit.ordinal));
  }
  for (const edit of edits.notes ?? []) {
    changeOf(edit)?.notes.set(offsetOf(edit.ordinal), edit.note);
  }
  return [...changes.values()];
}

/** Whether two devices lie in one group. */
export const isSameGroup = (one: DevicePlace, other: DevicePlace): boolean =>
  groupOf(one.ordinal) === groupOf(other.ordinal) &&
  one.appId === other.appId &&
  one.platformId === other.platformId;

/** The group that a device is in. */
export const groupOfPlace = ({ appId, platformId, ordinal }: DevicePlace): GroupKey => ({
  appId,
  platformId,
  groupNumber: groupOf(ordinal),
});

/** Names a group in logs and maps. */
export const groupKeyOf = ({ appId, platformId, groupNumber }: GroupKey): string =>
  `${appId}.${platformId}.${groupNumber}`;

function begin({ appId, platformId, groupNumber, version }: RaisedGroup): Growing {
  return {
    appId,
    platformId,
    groupNumber,
    version,
    tokens: new Map(),
    added: new Map(),
    removed: new Map(),
    notes: new Map(),
  };
}

function push(offsets: Map<number, number[]> | undefined, tagId: number, offset: number): void {
  if (offsets === undefined) return;
  const known = offsets.get(tagId);
  if (known === undefined) offsets.set(tagId, [offset]);
  else known.push(offset);
}
