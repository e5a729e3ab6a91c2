/**
 * Ends notifications of which everything is recorded and that nobody has ended. Whoever records the
 * last part ends its notification in the same transaction, so there are none but those of a
 * database that was restored, copied or mended by hand.
 */

import type { SqlPool } from '../sql.ts';
import { transact } from '../transact.ts';
import { finishNotifications } from './finish-notifications.ts';
import { lockNotifications } from './lock-notifications.ts';

/** Their ids, at most `limit` of them. */
export const finishStranded = (sql: SqlPool, limit: number): Promise<readonly string[]> =>
  transact(sql, async (tx) => {
    const stranded = await tx<{ id: string }[]>`
      select id from notifications
      where finished_at is null and state in ('RUNNING', 'PAUSED', 'CANCELLED')
        and open_chunks = 0 and open_retries = 0
      limit ${limit}::integer`;
    const ids = stranded.map(({ id }) => id);
    if (ids.length === 0) return [];
    // Somebody may have released a parked part of one: finishing looks again, behind the lock.
    await lockNotifications(tx, ids);
    return (await finishNotifications(tx, ids)).map(({ id }) => id);
  });
