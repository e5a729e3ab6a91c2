/** Deletes providers' tokens that are not used. */

import type { UpkeepJob } from '../database/upkeep-job.ts';
import { byAge } from '../database/upkeep-job.ts';
import { deleteProviderTokens } from './sql/old-tokens.ts';

/**
 * Tokens live an hour, and a freeze 20 minutes.
 * @limit stored tokens that are not used → deleted
 */
const PROVIDER_TOKEN_MS = 86_400_000;
/** @limit stored tokens deleted in a run → the next run */
const ROWS_MAX = 10_000;

export const PROVIDER_TOKENS: UpkeepJob = {
  name: "providers' tokens",
  intervalMs: 3_600_000,
  transactionsMax: 1,
  run: byAge({ keptMs: PROVIDER_TOKEN_MS, batchMax: ROWS_MAX, delete: deleteProviderTokens }),
};
