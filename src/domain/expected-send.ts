/** A send that one device is expected to have got, for who looks that device up. */

import type { NotificationState } from './notification.ts';

export interface ExpectedSend {
  readonly notificationId: string;
  readonly title: string | null;
  readonly state: NotificationState;
  readonly sendAtMs: number;
  /** Null: nothing of it was sent yet. */
  readonly lastSendAtMs: number | null;
  /**
   * It has ended, every device that failed is noted, and none was skipped, expired,
   * cancelled or left out: so a device that is not noted was accepted.
   */
  readonly isWholeKnown: boolean;
}

export interface SendsToList {
  readonly sinceMs: number;
  readonly limit: number;
  /** Only those that it has submitted; null: all of the client. */
  readonly publisher: string | null;
  /** The place of the device, whose values answer tests. Absent: it has no values. */
  readonly ordinal?: number;
}
