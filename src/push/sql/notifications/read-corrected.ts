/** Reads a job that is to be corrected or retracted (decision 77). */

import type { PlatformId } from '../../../../packages/std/src/platforms.ts';
import type { Sql } from '../../../database/sql.ts';
import type { Scope } from '../../../domain/device.ts';
import type {
  Correction,
  NotificationState,
  Payload,
  TemplatedPayload,
} from '../../../domain/notification.ts';
import type { NotificationTerms } from './terms.ts';
import { selectedOptions, storedAudience } from './terms.ts';

export interface CorrectedNotification extends Omit<NotificationTerms, 'payload'> {
  readonly id: string;
  /** The job that was sent first: itself, or the one of whose chain it is. */
  readonly first: string;
  /** Its own deed. Null: it is no correction. */
  readonly correction: Correction | null;
  readonly userName: string;
  readonly state: NotificationState;
  readonly hasEnded: boolean;
  readonly expression: string | null;
  /** Those that a job of the chain could go to. */
  readonly scopes: readonly Scope<PlatformId>[];
  /** How many devices have a message of the chain, as far as it is recorded. */
  readonly reached: number;
  /** The payloads of the first job and its retries. */
  readonly sent: readonly {
    readonly payload: Payload;
    readonly templated: TemplatedPayload | null;
  }[];
}

/** Null: the client has no such job. */
export async function readCorrected(
  sql: Sql,
  clientId: number,
  notificationId: string,
): Promise<CorrectedNotification | null> {
  const [row] = await sql<CorrectedNotification[]>`
    with job as (
      select n.*, coalesce(n.retries, n.id) as first from notifications n
      where n.id = ${notificationId}::uuid and n.client_id = ${clientId}
    ),
    chain as (
      select c.id, c.correction, c.payload, c.templated from job
      join notifications c on c.id = job.first or c.retries = job.first
    )
    select n.id, n.first, n.correction, n.user_name as "userName", n.state,
      n.finished_at is not null as "hasEnded", ${selectedOptions(sql)},
      ${storedAudience(sql)} as audience, n.audience_expression as expression,
      coalesce((
        select json_agg(distinct jsonb_build_object('appId', s.app_id, 'platformId', s.platform_id))
        from chain join notification_scopes s on s.notification_id = chain.id
      ), '[]') as scopes,
      (
        select coalesce(max(r.devices), 0)::float8
        from (
          -- A correction goes to whom the earlier jobs have reached: only later retries add to it.
          select sum(s.reached) as devices
          from chain one join chain other
            on other.id = one.id or (other.correction is null and (one.correction is null or other.id > one.id))
          join notification_scopes s on s.notification_id = other.id
          group by one.id
        ) r
      ) as reached,
      coalesce((
        select json_agg(json_build_object('payload', payload, 'templated', templated))
        from chain where correction is null
      ), '[]') as sent
    from job n`;
  return row ?? null;
}
