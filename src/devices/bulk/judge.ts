/** Decides how a bulk operation changes each device: the whole change, or nothing and why. */

import type { SubscribableTag } from '../../catalogue/subscribable-tags.ts';
import { livingTags, subscribableTags } from '../../catalogue/subscribable-tags.ts';
import type { Sql } from '../../database/sql.ts';
import type { BulkChange, BulkOutcome } from '../../domain/bulk-operation.ts';
import type { TagsAfter } from '../change.ts';
import { tagsAfterMakingRoom } from '../change.ts';
import type { DeviceKey, KnownDevice } from '../sql/find-devices.ts';

export interface JudgedDevice {
  readonly device: DeviceKey;
  /** Null: it does not exist. */
  readonly known: KnownDevice | null;
  readonly outcome: BulkOutcome;
  /** The device's tags after the change. */
  readonly tags: TagsAfter;
}

/**
 * Judges each of the devices, in order, by what is known of it. Reads the tags after the devices: a
 * caller that has locked these sees what was committed during the wait.
 */
export async function judge(
  tx: Sql,
  change: BulkChange,
  devices: readonly DeviceKey[],
  known: readonly KnownDevice[],
  tagsMax: number,
): Promise<readonly JudgedDevice[]> {
  const subscribable = await subscribableTags(tx, change.subscribe);
  const living = new Set(await livingTags(tx, tagsOfFull(known, change, tagsMax)));
  const knownAt = new Map(known.map((device) => [device.index, device]));
  const appIds = [...new Set(devices.map(({ appId }) => appId))];
  const allowed = new Set(appIds.filter((appId) => isAllowed(change, appId, subscribable)));
  return devices.map((device, at) => {
    const found = knownAt.get(at) ?? null;
    const judged = judgeOne(change, found, allowed.has(device.appId), living, tagsMax);
    return { device, known: found, ...judged };
  });
}

type Judgement = Pick<JudgedDevice, 'outcome' | 'tags'>;

/** Whether the app's devices can subscribe to all of them. */
function isAllowed(
  { subscribe }: BulkChange,
  appId: number,
  subscribable: readonly SubscribableTag[],
): boolean {
  const ofApp = subscribable.filter(({ appIds }) => appIds?.includes(appId) ?? true);
  const ids = new Set(ofApp.map(({ id }) => id));
  return subscribe.every((tagId) => ids.has(tagId));
}

function judgeOne(
  { subscribe, unsubscribe, memberOf }: BulkChange,
  known: KnownDevice | null,
  mayChange: boolean,
  living: ReadonlySet<number>,
  tagsMax: number,
): Judgement {
  if (known === null) return left('unknown', []);
  const { tagIds } = known;
  if (memberOf !== null && !tagIds.includes(memberOf)) return left('unchanged', tagIds);
  if (!mayChange) return left('refused', tagIds);
  const wanted = { clear: false, add: new Set(subscribe), remove: new Set(unsubscribe) };
  const tags = tagsAfterMakingRoom(tagIds, wanted, tagsMax, living);
  if (tags.isLimited) return left('full', tagIds);
  const isSame = tags.gained.length + tags.lost.length === 0;
  return { outcome: isSame ? 'unchanged' : 'changed', tags };
}

const left = (outcome: BulkOutcome, tagIds: readonly number[]): Judgement => ({
  outcome,
  tags: { tagIds, gained: [], lost: [], isLimited: false },
});

const tagsOfFull = (
  known: readonly KnownDevice[],
  { subscribe }: BulkChange,
  tagsMax: number,
): readonly number[] => {
  const full = known.filter(({ tagIds }) => tagIds.length + subscribe.length > tagsMax);
  return [...new Set(full.flatMap(({ tagIds }) => tagIds))];
};
