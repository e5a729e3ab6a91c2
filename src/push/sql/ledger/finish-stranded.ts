/**
 * Ends notifications whose parts are all recorded: they stay open only in a database that was
 * restored, copied or repaired by hand.
 */

import type { SqlPool } from '../../../database/sql.ts';
import { transact } from '../../../database/transact.ts';
import type { EndedNotification } from './advance-notifications.ts';
import { advanceNotifications, beginCorrections, unmoved } from './advance-notifications.ts';
import { lockNotifications } from './lock-notifications.ts';

/** Answers them, at most `limit`. */
export const finishStranded = (
  sql: SqlPool,
  limit: number,
): Promise<readonly EndedNotification[]> =>
  transact(sql, async (tx) => {
    const stranded = await tx<{ id: string }[]>`
      select id from notifications
      where finished_at is null and state in ('RUNNING', 'PAUSED', 'CANCELLED')
        and open_chunks = 0 and open_retries = 0
      limit ${limit}::integer`;
    const ids = stranded.map(({ id }) => id);
    if (ids.length === 0) return [];
    // An operator may have released a parked part of one: finishing checks again, after the lock.
    await lockNotifications(tx, ids);
    const ended = await advanceNotifications(tx, ids.map(unmoved));
    await beginCorrections(tx, ended);
    return ended;
  });
