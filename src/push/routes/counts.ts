/** Counts as the interface names them. */

import type { Counts, ShownCounts } from '../../domain/notification.ts';

/** Without `withheldCount` no device was left out. */
export const countsObject = (counts: Counts & Partial<ShownCounts>) => ({
  totalCount: counts.total,
  successCount: counts.delivered,
  failedCount: counts.failed,
  skippedCount: counts.skipped,
  expiredCount: counts.expired,
  cancelledCount: counts.cancelled,
  ...withheldObject(counts.withheld ?? 0),
});

export const withheldObject = (withheld: number) =>
  withheld === 0 ? {} : { withheldCount: withheld, withheldReasons: { frequencyCap: withheld } };
