/** What the ledger answers to a worker's report. */

import type { NotificationState } from '../domain/notification.ts';

export type Verdict =
  /** Recorded, and the lease renewed. */
  | {
      readonly kind: 'recorded';
      /**
       * Monotonic time before the database was asked: the renewed lease ends no earlier than its
       * length after this.
       */
      readonly sentAtMs: number;
      readonly state: NotificationState;
      /** The fault of the scope, whoever found it. */
      readonly fault: string | null;
      /** Whether any device of the scope has the push. */
      readonly hasDelivered: boolean;
    }
  /** Another holds the chunk, or nobody: nothing of it may be sent any more. */
  | { readonly kind: 'lost' }
  /** The database takes this report never: the task ends as if it were lost. */
  | { readonly kind: 'refused'; readonly reason: string };
