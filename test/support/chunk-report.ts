/** Reports on chunks, as a worker sends them to the ledger. */

import type { ChunkProgress } from '../../src/domain/progress.ts';
import type { ClaimedChunk } from '../../src/push/sql/ledger/claim-chunks.ts';

/** A sign of life, and whatever more the test has to report. */
export const chunkReport = (
  { notificationId, appId, platformId, groupNumber, epoch }: ClaimedChunk,
  more: Partial<ChunkProgress>,
): ChunkProgress => ({
  kind: 'chunk',
  notificationId,
  appId,
  platformId,
  groupNumber,
  epoch,
  blocks: 0n,
  counts: { total: 0, delivered: 0, failed: 0, skipped: 0, expired: 0, cancelled: 0 },
  reasons: [],
  retries: [],
  started: null,
  openDevices: null,
  observations: [],
  fault: null,
  sends: 0,
  sentFromMs: null,
  sentToMs: null,
  releaseAfterMs: null,
  ...more,
});
