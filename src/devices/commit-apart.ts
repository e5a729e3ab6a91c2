/** Commits a batch that PostgreSQL refuses in halves, down to the row that it refuses. */

import { faultOf } from '../database/faults.ts';
import type { FailureLog } from '../telemetry/failure-log.ts';

/** Why a device was not committed: its data is refused, or the result is unknown. */
export type Uncommitted = 'refused' | 'unavailable';

/** Answers each item's result, or why there is none. `sentence`: for the log, if unavailable. */
export async function commitApart<Item, Result>(
  items: readonly Item[],
  commit: (items: readonly Item[]) => Promise<readonly Result[]>,
  log: FailureLog,
  sentence: string,
): Promise<readonly (Result | Uncommitted)[]> {
  try {
    return await commit(items);
  } catch (error) {
    const isRefusal = faultOf(error) === 'data';
    if (isRefusal && items.length > 1) {
      const middle = Math.ceil(items.length / 2);
      return [
        ...(await commitApart(items.slice(0, middle), commit, log, sentence)),
        ...(await commitApart(items.slice(middle), commit, log, sentence)),
      ];
    }
    log.tell({ level: 'error', sentence, error, context: { devices: items.length } });
    return items.map(() => (isRefusal ? 'refused' : 'unavailable'));
  }
}
