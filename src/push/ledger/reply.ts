/** The ledger's reply to a worker's report. */

import type { NotificationState } from '../../domain/notification.ts';

export type Reply =
  /** Recorded, and the lease renewed. */
  | {
      readonly kind: 'recorded';
      /** Monotonic time before the statement was sent: the lease is renewed from then at least. */
      readonly sentAtMs: number;
      readonly state: NotificationState;
      /** The fault of the scope, from any task. */
      readonly fault: string | null;
      /** Whether any device of the scope has the push. */
      readonly hasDelivered: boolean;
    }
  /** This claim of the part has ended: nothing more of it may be sent. */
  | { readonly kind: 'lost' }
  /** The database will never take this report: the task ends as if its part were lost. */
  | { readonly kind: 'refused'; readonly reason: string };
