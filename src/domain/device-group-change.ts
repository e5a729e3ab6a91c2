/**
 * The changes of a transaction in a device group. A tag index applies them only on top of the
 * version before; otherwise it has missed a change.
 */

import type { ApnsEnvironment, Scope } from './device.ts';
import { groupNumberOf, offsetOf } from './device.ts';

/** 8,192 consecutive ordinals of one (app, platform). */
export interface DeviceGroupKey extends Scope {
  readonly groupNumber: number;
}

/** A group whose version a transaction raised, and the version that it has from the commit on. */
export interface RaisedDeviceGroup extends DeviceGroupKey {
  readonly version: number;
}

export interface DevicePlace extends Scope {
  readonly ordinal: number;
}

/** The tags that a device gains and loses; none of them is in both. */
export interface TagEdit extends DevicePlace {
  readonly gained: readonly number[];
  readonly lost: readonly number[];
}

/** The device observations of earlier sends. Few devices have a history. */
export interface DeviceHistory {
  /** Sends at different times in which its token was refused, since one in which it was not. */
  readonly refusals: number;
  /** The APNs environment that took its token; null: the one tried first, as far as is known. */
  readonly environment: ApnsEnvironment | null;
}

/** Edits to devices of any groups. An edit that changes nothing does no harm. */
export interface Edits {
  /** Devices that are new, or have another token; null: erased, with history and tags. */
  readonly tokens?: readonly (DevicePlace & { readonly deviceId: string | null })[];
  readonly tags?: readonly TagEdit[];
  readonly histories?: readonly (DevicePlace & { readonly history: DeviceHistory })[];
}

export type TagOffsets = ReadonlyMap<number, readonly number[]>;

/** One transaction's change of one group: everything by offset, 0–8,191. */
export interface DeviceGroupChange extends RaisedDeviceGroup {
  readonly tokens: ReadonlyMap<number, string | null>;
  readonly added: TagOffsets;
  readonly removed: TagOffsets;
  readonly histories: ReadonlyMap<number, DeviceHistory>;
}

interface Growing extends RaisedDeviceGroup {
  readonly tokens: Map<number, string | null>;
  readonly added: Map<number, number[]>;
  readonly removed: Map<number, number[]>;
  readonly histories: Map<number, DeviceHistory>;
}

/** Sorts the edits into the groups that were raised: an edit in another group changed nothing. */
export function changesOf(
  raised: readonly RaisedDeviceGroup[],
  edits: Edits,
): readonly DeviceGroupChange[] {
  const changes = new Map<string, Growing>();
  for (const group of raised) changes.set(deviceGroupKeyOf(group), begin(group));
  let before: DevicePlace | undefined;
  let last: Growing | undefined;
  // Most edits are in the same group as the edit before, so the key need not be built and hashed
  // again.
  const changeOf = (place: DevicePlace): Growing | undefined => {
    if (before !== undefined && isSameDeviceGroup(place, before)) return last;
    const { appId, platformId, ordinal } = place;
    before = place;
    last = changes.get(
      deviceGroupKeyOf({ appId, platformId, groupNumber: groupNumberOf(ordinal) }),
    );
    return last;
  };
  for (const edit of edits.tokens ?? []) {
    changeOf(edit)?.tokens.set(offsetOf(edit.ordinal), edit.deviceId);
  }
  for (const edit of edits.tags ?? []) {
    const change = changeOf(edit);
    if (change === undefined) continue;
    const offset = offsetOf(edit.ordinal);
    for (const tagId of edit.gained) push(change.added, tagId, offset);
    for (const tagId of edit.lost) push(change.removed, tagId, offset);
  }
  for (const edit of edits.histories ?? []) {
    changeOf(edit)?.histories.set(offsetOf(edit.ordinal), edit.history);
  }
  return [...changes.values()];
}

const isSameDeviceGroup = (one: DevicePlace, other: DevicePlace): boolean =>
  groupNumberOf(one.ordinal) === groupNumberOf(other.ordinal) &&
  one.appId === other.appId &&
  one.platformId === other.platformId;

export const deviceGroupOf = ({ appId, platformId, ordinal }: DevicePlace): DeviceGroupKey => ({
  appId,
  platformId,
  groupNumber: groupNumberOf(ordinal),
});

/** Names a group in logs and maps. */
export const deviceGroupKeyOf = ({ appId, platformId, groupNumber }: DeviceGroupKey): string =>
  `${appId}.${platformId}.${groupNumber}`;

function begin({ appId, platformId, groupNumber, version }: RaisedDeviceGroup): Growing {
  return {
    appId,
    platformId,
    groupNumber,
    version,
    tokens: new Map(),
    added: new Map(),
    removed: new Map(),
    histories: new Map(),
  };
}

function push(offsets: Map<number, number[]>, tagId: number, offset: number): void {
  const known = offsets.get(tagId);
  if (known === undefined) offsets.set(tagId, [offset]);
  else known.push(offset);
}
