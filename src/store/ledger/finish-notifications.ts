/**
 * Sets the final state of those of the notifications that have no open chunk and no open retry
 * left. A statement of its own after those that count, because it must see their counts. FAILED: a
 * fault stopped every scope that has devices before anything was accepted. Answers the
 * notifications that it has ended.
 */

import type { Sql } from '../sql.ts';

export const finishNotifications = (sql: Sql, ids: readonly string[]) => sql<{ id: string }[]>`
  update notifications n set
    finished_at = now(),
    state = case
      when n.state = 'CANCELLED' then 'CANCELLED'
      when (
        select bool_and(s.fault is not null and s.delivered = 0)
        from notification_scopes s where s.notification_id = n.id and s.total > 0
      ) then 'FAILED'
      else 'FINISHED'
    end
  where n.id = any(${[...ids]}::uuid[])
    and n.state in ('RUNNING', 'PAUSED', 'CANCELLED')
    and n.finished_at is null and n.open_chunks = 0 and n.open_retries = 0
  returning n.id`;
