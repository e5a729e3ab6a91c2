/** Folds the operations of one device into one change: a statement cannot change a row twice. */

import type { DeviceAttributes, WithAttributes } from '../domain/device-attributes.ts';
import { latestAttributes, NO_ATTRIBUTES } from '../domain/device-attributes.ts';
import { subscribersBy } from '../statistics/record-changes.ts';
import { sortNumbers } from '../std/sort-numbers.ts';
import type { WantedFacets } from './facets.ts';
import { NO_FACETS } from './facets.ts';
import type { WantedNumbers } from './numbers.ts';
import { NO_NUMBERS } from './numbers.ts';
import type { Operation } from './operation.ts';

/** A device keeps its earlier tags unless cleared or in `remove`, and gets those of `add`. */
export interface Change extends WithAttributes {
  /** Removes every tag that is not in `add`. */
  clear: boolean;
  readonly add: Set<number>;
  /** Never holds a tag that `add` holds. Empty when `clear` is set. */
  readonly remove: ReadonlySet<number>;
  /** Creates the device if it is new, and remembers the time. */
  registers: boolean;
  /** Remembers the time of unsubscribing. */
  unsubscribes: boolean;
  /** `NO_FACETS`: they stay. */
  readonly facets: WantedFacets;
  /** `NO_NUMBERS`: they stay. */
  readonly numbers: WantedNumbers;
}

/** Whether devices of an app can subscribe to a tag: it is live, connected and unexpired. */
export type IsSubscribable = (tagId: number, appId: number) => boolean;

interface Folding extends Change {
  attributes: DeviceAttributes;
  facets: WantedFacets;
  numbers: WantedNumbers;
  /** `NO_TAGS` until a tag is removed. */
  remove: Set<number>;
}

/** Always empty. Hardly any change removes single tags; one that does gets a set of its own. */
const NO_TAGS: Set<number> = new Set();

export function fold(operations: readonly Operation[], isSubscribable: IsSubscribable): Change {
  const change: Folding = {
    clear: false,
    add: new Set(),
    remove: NO_TAGS,
    registers: false,
    unsubscribes: false,
    attributes: NO_ATTRIBUTES,
    facets: NO_FACETS,
    numbers: NO_NUMBERS,
  };
  for (const operation of operations) apply(change, operation, isSubscribable);
  return change;
}

function apply(change: Folding, operation: Operation, isSubscribable: IsSubscribable): void {
  switch (operation.kind) {
    case 'reg':
      register(change, operation);
      subscribe(change, operation, isSubscribable);
      return;
    case 'set': {
      const { appId } = operation.device;
      // "Tags given but none known: ignored too" (internals/interface.md, "App API").
      if (!operation.tagIds.some((tagId) => isSubscribable(tagId, appId))) return;
      register(change, operation);
      clear(change);
      subscribe(change, operation, isSubscribable);
      return;
    }
    case 'ureg':
      change.unsubscribes = true;
      if (operation.tagIds === 'all') clear(change);
      else unsubscribe(change, operation.tagIds);
      return;
  }
}

type Registering = Operation & { readonly kind: 'reg' | 'set' };

function register(change: Folding, { attributes, facets, numbers }: Registering): void {
  change.registers = true;
  change.attributes = latestAttributes(change.attributes, attributes);
  if (facets !== undefined) {
    change.facets = change.facets === NO_FACETS ? facets : new Map([...change.facets, ...facets]);
  }
  if (numbers !== undefined) {
    const { numbers: before } = change;
    change.numbers = before === NO_NUMBERS ? numbers : new Map([...before, ...numbers]);
  }
}

function clear(change: Folding): void {
  change.clear = true;
  change.add.clear();
  change.remove = NO_TAGS;
}

function subscribe(
  change: Folding,
  { tagIds, device }: Registering,
  isSubscribable: IsSubscribable,
): void {
  for (const tagId of tagIds) {
    if (!isSubscribable(tagId, device.appId)) continue;
    change.add.add(tagId);
    change.remove.delete(tagId);
  }
}

function unsubscribe(change: Folding, tagIds: readonly number[]): void {
  for (const tagId of tagIds) change.add.delete(tagId);
  if (change.clear) return;
  if (change.remove === NO_TAGS) change.remove = new Set();
  for (const tagId of tagIds) change.remove.add(tagId);
}

type TagsChange = Pick<Change, 'clear' | 'add' | 'remove'>;

export interface TagsAfter {
  /** Sorted. */
  readonly tagIds: readonly number[];
  readonly gained: readonly number[];
  readonly lost: readonly number[];
  /** Some tags were not added, because the device has `tagsMax`. */
  readonly isLimited: boolean;
}

/** How many subscribers the app of the device gains: -1, 0 or 1. */
export const subscribersOf = ({ tagIds, gained, lost }: TagsAfter): number =>
  subscribersBy(tagIds.length - gained.length + lost.length, tagIds.length);

/** Applies a change to sorted tags. A device beyond `tagsMax` keeps its tags, and gains no more. */
export function tagsAfter(
  before: readonly number[],
  change: TagsChange,
  tagsMax: number,
): TagsAfter {
  const mayLose = change.clear || change.remove.size > 0;
  const lost = mayLose ? before.filter((tagId) => isLost(change, tagId)) : NONE;
  const room = Math.max(0, tagsMax - before.length + lost.length);
  const gained: number[] = [];
  let isLimited = false;
  for (const tagId of change.add) {
    if (hasSorted(before, tagId)) continue;
    if (gained.length < room) gained.push(tagId);
    else isLimited = true;
  }
  if (gained.length + lost.length === 0) return { tagIds: before, gained, lost, isLimited };
  const kept = lost.length === 0 ? before : before.filter((tagId) => !isLost(change, tagId));
  return { tagIds: sortNumbers([...kept, ...gained]), gained, lost, isLimited };
}

const NONE: readonly number[] = [];

const isLost = ({ clear, add, remove }: TagsChange, tagId: number): boolean =>
  clear ? !add.has(tagId) : remove.has(tagId);

/** A binary search: making a set of the tags costs more than all else that a repetition does. */
function hasSorted(tagIds: readonly number[], wanted: number): boolean {
  let from = 0;
  let to = tagIds.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((tagIds[middle] ?? wanted) < wanted) from = middle + 1;
    else to = middle;
  }
  return tagIds[from] === wanted;
}

/** The same; a device at its limit first loses its tags that are not `living` (deleted ones). */
export function tagsAfterMakingRoom(
  before: readonly number[],
  change: TagsChange,
  tagsMax: number,
  living: ReadonlySet<number>,
): TagsAfter {
  const within = tagsAfter(before, change, tagsMax);
  if (!within.isLimited) return within;
  const dead = before.filter((tagId) => !living.has(tagId));
  const remove = new Set([...change.remove, ...dead]);
  return tagsAfter(before, { ...change, remove }, tagsMax);
}
