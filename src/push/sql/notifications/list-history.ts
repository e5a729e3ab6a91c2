/** Lists what a client has submitted, newest first, by pages, as the public service does. */

import type { Sql } from '../../../database/sql.ts';
import type { NotificationState } from '../../../domain/notification.ts';

interface HistoryEntry {
  readonly id: string;
  readonly userName: string;
  readonly status: NotificationState;
  /** When it was accepted, epoch milliseconds. */
  readonly time: number;
}

/** `publisher`: who has submitted it; null: anyone. */
export const listHistory = (
  sql: Sql,
  clientId: number,
  publisher: string | null,
  { offset, limit }: { readonly offset: number; readonly limit: number },
) => sql<HistoryEntry[]>`
  select id, user_name as "userName", state as status,
    floor(extract(epoch from accepted_at) * 1000)::float8 as time
  from notifications
  where client_id = ${clientId} and (${publisher}::text is null or user_name = ${publisher})
  order by id desc
  offset ${offset}::bigint limit ${limit}::integer`;
