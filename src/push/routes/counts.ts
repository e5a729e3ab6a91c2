/** Counts as the interface names them. */

import type { Counts } from '../../domain/notification.ts';

export const countsObject = (counts: Counts) => ({
  totalCount: counts.total,
  successCount: counts.delivered,
  failedCount: counts.failed,
  skippedCount: counts.skipped,
  expiredCount: counts.expired,
  cancelledCount: counts.cancelled,
});
