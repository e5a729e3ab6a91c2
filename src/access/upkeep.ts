/** Deletes sessions of the console and one-time links that have ended. */

import type { UpkeepJob } from '../database/upkeep-job.ts';
import { byAge } from '../database/upkeep-job.ts';
import { deleteEndedLinks } from './sql/links.ts';
import { deleteEndedSessions } from './sql/sessions.ts';

/** @limit between two looks for ended sessions and links */
const INTERVAL_MS = 3_600_000;
/**
 * Longer than a session of the console lives unused (accounts/sessions.ts).
 * @limit an unused session is deleted after
 */
const UNUSED_SESSION_MS = 86_400_000;
/** @limit ended sessions deleted in a run; ended links → the next run */
const ROWS_MAX = 10_000;

export const ENDED_SESSIONS: UpkeepJob = {
  name: 'ended sessions',
  intervalMs: INTERVAL_MS,
  transactionsMax: 1,
  run: byAge({ keptMs: UNUSED_SESSION_MS, batchMax: ROWS_MAX, delete: deleteEndedSessions }),
};

export const ENDED_LINKS: UpkeepJob = {
  name: 'ended one-time links',
  intervalMs: INTERVAL_MS,
  transactionsMax: 1,
  run: byAge({ keptMs: 0, batchMax: ROWS_MAX, delete: deleteEndedLinks }),
};
