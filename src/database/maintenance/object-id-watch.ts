/** Watches how many of the ids of tags, groups and apps are given out, and warns in time. */

import type { Logger } from 'pino';
import { objectIdsUsedShare } from '../object-ids.ts';
import type { UpkeepJob, UpkeepRun } from '../upkeep-job.ts';

/**
 * Half: at the same pace there is as much time again to find the client.
 * @limit share of the ids of tags, groups and apps from which the log warns →
 * `tagcast_object_ids_used_ratio` has the share
 */
const OBJECT_IDS_SHARE_WARNED = 0.5;

export class ObjectIdWatch implements UpkeepJob {
  readonly name = 'ids that are given out';
  readonly intervalMs = 3_600_000;
  readonly transactionsMax = 1;
  readonly #log: Logger;
  #usedShare: number | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** The last run found it; null: there was none yet. */
  get usedShare(): number | null {
    return this.#usedShare;
  }

  async run({ sql }: UpkeepRun): Promise<void> {
    const usedShare = await objectIdsUsedShare(sql);
    this.#usedShare = usedShare;
    if (usedShare < OBJECT_IDS_SHARE_WARNED) return;
    this.#log.warn(
      { usedShare },
      'ids of tags and groups are running out: see docs/reference/limits.md',
    );
  }
}
