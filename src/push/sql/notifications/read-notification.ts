/** One notification: all that is known of it but its scopes (read-status.ts). */

import type { Fragment, Sql } from '../../../database/sql.ts';
import type {
  Audience,
  NotificationState,
  Payload,
  TemplatedPayload,
} from '../../../domain/notification.ts';
import type { PushOptions } from '../../../domain/push-options.ts';
import type { NotificationTimes } from './list-notifications.ts';
import { timesOf } from './list-notifications.ts';
import { selectedOptions, storedAudience } from './terms.ts';

export interface KnownNotification extends NotificationTimes, PushOptions {
  readonly state: NotificationState;
  readonly userName: string;
  readonly payload: Payload;
  /** Null: no template concerned it. */
  readonly templated: TemplatedPayload | null;
  readonly audience: Audience;
  /** When it paused by itself; null: it did not. */
  readonly stageEndedAt: number | null;
  /** Null: its audience was given as selections. */
  readonly expression: string | null;
  /** Null: its client had no policies when it was accepted. */
  readonly category: string | null;
  /** The time that the clocks of its devices are to show. Null: it has one moment. */
  readonly sendAtLocal: string | null;
  readonly sendsLate: boolean | null;
  /** Caps leave no device out of it. */
  readonly ignoresCaps: boolean;
  /** The job that was sent first, of which this one is a retry. Null: it is none. */
  readonly retries: string | null;
  /** The retries of this one, if it was sent first. */
  readonly retriedBy: readonly string[];
  /** The job that was sent first, which this one corrects or retracts. Null: it does not. */
  readonly corrects: string | null;
  readonly retracts: string | null;
  /** The corrections and retractions of this one, if it was sent first. */
  readonly correctedBy: readonly string[];
  readonly retractedBy: readonly string[];
}

/** Null: the client has no such notification, or, with a publisher, it is another's. */
export async function readNotification(
  sql: Sql,
  clientId: number,
  notificationId: string,
  publisher: string | null,
): Promise<KnownNotification | null> {
  const [row] = await sql<KnownNotification[]>`
    select n.state, n.user_name as "userName", n.payload, n.templated, ${selectedOptions(sql)},
      ${storedAudience(sql)} as audience, n.audience_expression as expression, ${timesOf(sql)},
      floor(extract(epoch from n.stage_ended_at) * 1000)::float8 as "stageEndedAt", n.category,
      coalesce(n.caps -> 'areIgnored' = 'true', false) as "ignoresCaps",
      n.send_at_local as "sendAtLocal", n.sends_late as "sendsLate",
      case when n.correction is null then n.retries end as retries,
      case when n.correction = 'correct' then n.retries end as corrects,
      case when n.correction = 'retract' then n.retries end as retracts,
      ${following(sql, sql`r.correction is null`)} as "retriedBy",
      ${following(sql, sql`r.correction = 'correct'`)} as "correctedBy",
      ${following(sql, sql`r.correction = 'retract'`)} as "retractedBy"
    from notifications n
    where n.id = ${notificationId}::uuid and n.client_id = ${clientId}
      and (${publisher}::text is null or n.user_name = ${publisher})`;
  return row ?? null;
}

/** The jobs of the chain of `n` that are of a kind, in the order of their acceptance. */
const following = (sql: Sql, kind: Fragment) => sql`
  array(select r.id::text from notifications r where r.retries = n.id and ${kind} order by r.id)`;
