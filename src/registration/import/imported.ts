/** What an operator imports for one device, and how that ended. */

import type { DeviceRef } from '../operation.ts';

export interface ImportedOperation {
  readonly device: DeviceRef;
  readonly appVersion: string | null;
  /** Null: nobody knows. */
  readonly registeredAtMs: number | null;
  /** Tags of the client. */
  readonly tagIds: readonly number[];
  /** Takes the tags away that the device has besides. */
  readonly replacesTags: boolean;
  /**
   * When the import began, by the database's clock: what an app said after it is newer than what a
   * file says.
   */
  readonly startedAtMs: number;
}

export type ImportResult =
  | 'added'
  /** It was there already, and has what the file says besides. */
  | 'merged'
  /**
   * Its app has unsubscribed it since the import began, or, with `replacesTags`, registered it: its
   * tags stay as they are.
   */
  | 'kept'
  /** As `added` or `merged`, but not with all tags: it has TAGS_PER_DEVICE_MAX. */
  | 'tags-limited'
  /** Nothing was done: the app has DEVICES_PER_APP_MAX devices, and this is a new one. */
  | 'limit'
  /** Nothing was done: the database refuses this very row. */
  | 'refused'
  /** Not known to be durable: the database cannot be reached, or is too slow. */
  | 'unavailable';
