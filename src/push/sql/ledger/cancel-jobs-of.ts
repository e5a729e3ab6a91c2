/** Cancels a bounded piece of a publisher's open jobs, in the transaction of the caller. */

import type { Sql } from '../../../database/sql.ts';
import { list } from '../../../database/sql.ts';
import type { EndedNotification } from './advance-notifications.ts';
import { advanceNotifications, unmoved } from './advance-notifications.ts';
import { NOT_PLANNED } from './change-state.ts';

export interface CancelledJobs {
  readonly count: number;
  /** Those that have ended with this. */
  readonly ended: readonly EndedNotification[];
}

/** At most `limit`, the oldest first. */
export async function cancelJobsOf(
  tx: Sql,
  clientId: number,
  userName: string,
  limit: number,
): Promise<CancelledJobs> {
  const held = await tx<{ id: string }[]>`
    select id from notifications
    where client_id = ${clientId} and user_name = ${userName} and finished_at is null and state <> 'CANCELLED'
    order by id limit ${limit}
    for no key update`;
  if (held.length === 0) return { count: 0, ended: [] };
  const ids = held.map(({ id }) => id);
  await tx`
    update notifications set
      open_chunks = case
        when state in ('SCHEDULED', 'QUEUED') or open_chunks = ${NOT_PLANNED}::integer then 0
        else open_chunks
      end,
      state = 'CANCELLED'
    where id = any (${list(ids)}::uuid[])`;
  return { count: ids.length, ended: await advanceNotifications(tx, ids.map(unmoved)) };
}
