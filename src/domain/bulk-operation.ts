/** Bulk operations: tags of many devices, changed in the background (decision 52). */

import type { FacetId } from './attributes.ts';
import type { NumberEntry } from './device-numbers.ts';

export const LIST_ACTIONS = ['subscribe', 'unsubscribe'] as const;
/** On the members of a tag: the devices that have it. */
export const MEMBER_ACTIONS = ['copy', 'move', 'remove'] as const;
/** Attributes of a list of devices. */
export const ATTRIBUTES_ACTION = 'attributes';
export const BULK_ACTIONS = [...LIST_ACTIONS, ...MEMBER_ACTIONS, ATTRIBUTES_ACTION] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

export const BULK_STATES = ['QUEUED', 'RUNNING', 'FINISHED', 'CANCELLED'] as const;
export type BulkState = (typeof BULK_STATES)[number];

/** The result for each device: it gets the whole change, or nothing of it. */
export type BulkOutcome =
  | 'changed'
  /** It is so already, or it is no member any more. */
  | 'unchanged'
  /** The app has no such device. */
  | 'unknown'
  /** It would have more than TAGS_PER_DEVICE_MAX tags. */
  | 'full'
  /** Its app's devices cannot subscribe to the tag any more, or the attribute was deleted. */
  | 'refused';

export type BulkCounts = Readonly<Record<BulkOutcome, number>>;

export interface BulkChange {
  readonly subscribe: readonly number[];
  readonly unsubscribe: readonly number[];
  /** Only to devices that have this tag; null: to each of a list. */
  readonly memberOf: number | null;
}

/** The attributes that a device is to have: the id of each, and a facet or null. */
export type FacetPairs = readonly (readonly [attributeId: number, facetId: FacetId | null])[];

/** The same of attributes whose values are in no dictionary. */
export type NumberPairs = readonly (readonly [attributeId: number, entry: NumberEntry | null])[];

/** @publisherLimit devices of a bulk operation on a list → `400` */
export const BULK_DEVICES_MAX = 1_000;
/**
 * Counts ids and sourceIds together. With so many a transaction has 50 devices of a list.
 * @publisherLimit tags of a bulk operation on a list, by id and by sourceId together → `400`
 */
export const BULK_TAGS_MAX = 100;
/**
 * A list of 100,000 devices is so many operations; each has 16 KiB of keys until it has ended.
 * @publisherLimit bulk operations of a client that have not ended → `429`
 */
export const BULK_OPEN_PER_CLIENT_MAX = 100;
