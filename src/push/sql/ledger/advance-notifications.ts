/**
 * Takes what a transaction has recorded into the notifications' own rows: open work, times of
 * sends, the final state. Each row is written once, and only if it changes.
 */

import { float8, integer, rowsOf, uuid } from '../../../database/rows.ts';
import type { Sql } from '../../../database/sql.ts';
import { list } from '../../../database/sql.ts';
import type { Counts, NotificationState } from '../../../domain/notification.ts';
import { recordEndedJobs } from '../../../webhooks/record-events.ts';

export interface Advance {
  readonly notificationId: string;
  /** Chunks that are open no more. */
  readonly closedChunks: number;
  /** Retries that are new, less those that have ended. */
  readonly addedRetries: number;
  /** Epoch milliseconds of the first and the last send; null: none. */
  readonly sentFromMs: number | null;
  readonly sentToMs: number | null;
}

/** Nothing was recorded of it. */
export const unmoved = (notificationId: string): Advance => ({
  notificationId,
  closedChunks: 0,
  addedRetries: 0,
  sentFromMs: null,
  sentToMs: null,
});

/** A notification that will send nothing more, with what has become of its devices. */
export interface EndedNotification extends Counts {
  /** Left out by a policy, a part of the total. */
  readonly withheld: number;
  readonly id: string;
  readonly clientId: number;
  readonly state: NotificationState;
  readonly appIds: readonly number[];
  /** When it was accepted, or was to be sent. */
  readonly dueAtMs: number;
  readonly endedAtMs: number;
  /** One of its scopes' faults; null: none. */
  readonly fault: string | null;
  /** The correction that waited for this. Null: none. */
  readonly awaitedBy: string | null;
}

/**
 * One for each notification, which the transaction holds (lock-notifications.ts). A statement of
 * its own, to see the counts. FAILED: a fault stopped every scope with devices before anything was
 * accepted. Answers those that have ended with this.
 */
export const advanceNotifications = (sql: Sql, advances: readonly Advance[]) => sql<
  EndedNotification[]
>`
  with advanced as (
    select n.id, a.closed_chunks, a.added_retries, a.sent_from_ms, a.sent_to_ms,
      n.finished_at is null and n.state in ('RUNNING', 'PAUSED', 'CANCELLED')
        and n.open_chunks = a.closed_chunks and n.open_retries + a.added_retries = 0 as has_ended
    from ${advanced(sql, advances)}
    join notifications n on n.id = any (array[a.id])
  ),
  written as (
    update notifications n set
      open_chunks = n.open_chunks - a.closed_chunks,
      open_retries = n.open_retries + a.added_retries,
      first_send_at = least(n.first_send_at, to_timestamp(a.sent_from_ms / 1000)),
      last_send_at = greatest(n.last_send_at, to_timestamp(a.sent_to_ms / 1000)),
      finished_at = case when a.has_ended then now() else n.finished_at end,
      is_end_listed = n.is_end_listed or a.has_ended,
      state = case
        when not a.has_ended or n.state = 'CANCELLED' then n.state
        when (
          select bool_and(s.fault is not null and s.delivered = 0)
          from notification_scopes s where s.notification_id = n.id and s.total > 0
        ) then 'FAILED'
        else 'FINISHED'
      end
    from advanced a
    where n.id = any (array[a.id])
      and (a.has_ended or a.closed_chunks <> 0 or a.added_retries <> 0 or a.sent_from_ms is not null)
    returning n.id, n.client_id, n.state, n.accepted_at, n.send_at, n.finished_at, n.awaited_by, a.has_ended
  ),
  told as (
    ${recordEndedJobs(sql, sql`(select id, client_id, state from written where has_ended)`)}
  ),
  listed as (
    -- Statistics count it (statistics/count-ended.ts).
    insert into ended_notifications (notification_id)
    select id from advanced where has_ended
    on conflict do nothing
  )
  select w.id, w.client_id as "clientId", w.state, w.awaited_by as "awaitedBy", c.*,
    (extract(epoch from greatest(w.accepted_at, w.send_at)) * 1000)::float8 as "dueAtMs",
    (extract(epoch from w.finished_at) * 1000)::float8 as "endedAtMs"
  from written w
  cross join lateral (
    select coalesce(array_agg(distinct s.app_id), '{}') as "appIds", min(s.fault) as fault,
      coalesce(sum(s.total), 0)::float8 as total, coalesce(sum(s.delivered), 0)::float8 as delivered,
      coalesce(sum(s.failed), 0)::float8 as failed, coalesce(sum(s.skipped), 0)::float8 as skipped,
      coalesce(sum(s.expired), 0)::float8 as expired, coalesce(sum(s.cancelled), 0)::float8 as cancelled,
      coalesce(sum(s.withheld), 0)::float8 as withheld
    from notification_scopes s where s.notification_id = w.id
  ) c
  where w.has_ended`;

/** Lets the corrections begin that waited for these jobs; without such a one it does nothing. */
export async function beginCorrections(
  sql: Sql,
  ended: readonly EndedNotification[],
): Promise<void> {
  const ids = ended.flatMap(({ awaitedBy }) => awaitedBy ?? []);
  if (ids.length === 0) return;
  await sql`
    update chunks set available_at = now()
    where notification_id = any (${list(ids)}::uuid[]) and available_at = 'infinity'
      and parked_at is null`;
}

const advanced = rowsOf<Advance>('a', {
  id: uuid(({ notificationId }) => notificationId),
  closed_chunks: integer(({ closedChunks }) => closedChunks),
  added_retries: integer(({ addedRetries }) => addedRetries),
  sent_from_ms: float8(({ sentFromMs }) => sentFromMs),
  sent_to_ms: float8(({ sentToMs }) => sentToMs),
});
