/** Deletes the rows of dead nodes. */

import type { UpkeepJob } from '../upkeep-job.ts';
import { byAge } from '../upkeep-job.ts';
import { deleteDeadNodes } from './beats.ts';

/**
 * Longer than any lease that a node may have left; few, because each claim reads them.
 * @limit rows of dead nodes → deleted: only the lease counts then
 */
const DEAD_NODE_MS = 1_200_000;
/** @limit rows of dead nodes deleted in a run → the next run */
const NODES_MAX = 10_000;

export const DEAD_NODES: UpkeepJob = {
  name: 'dead nodes',
  transactionsMax: 1,
  run: byAge({ keptMs: DEAD_NODE_MS, batchMax: NODES_MAX, delete: deleteDeadNodes }),
};
