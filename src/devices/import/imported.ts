/** An import of one device by an operator, and its results. */

import type { WithAttributes } from '../../domain/device-attributes.ts';
import type { WantedFacets } from '../facets.ts';
import type { WantedNumbers } from '../numbers.ts';
import type { DeviceRef } from '../operation.ts';

export interface ImportedOperation extends WithAttributes {
  readonly device: DeviceRef;
  /** Null: not known. */
  readonly registeredAtMs: number | null;
  readonly tagIds: readonly number[];
  /** `NO_FACETS`: the file says nothing of them. */
  readonly facets: WantedFacets;
  /** `NO_NUMBERS`: the same. */
  readonly numbers: WantedNumbers;
  /** Removes the other tags of the device. */
  readonly replacesTags: boolean;
  /** Start of the import, by the database's clock: data that an app sends later is newer. */
  readonly startedAtMs: number;
}

export const IMPORT_RESULTS = [
  'added',
  /** The device existed, and got the data of the file in addition. */
  'merged',
  /** The app unsubscribed it, or with `replacesTags` registered it, since the import began. */
  'kept',
  /** Added or merged, but not with all tags: it has TAGS_PER_DEVICE_MAX. */
  'tags-limited',
  /** Nothing was done: the app has DEVICES_PER_APP_MAX devices, and this is a new one. */
  'limit',
  /** Nothing was done: the database refuses this very row. */
  'refused',
  /** Not known to be durable: the database cannot be reached, or is too slow. */
  'unavailable',
] as const;

export type ImportResult = (typeof IMPORT_RESULTS)[number];
