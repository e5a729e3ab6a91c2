/** Reads what a job asks of devices, for the explanation of one of them. */

import type { Sql } from '../../../database/sql.ts';
import type { AskedAudience } from '../../../domain/asked-audience.ts';
import type { Scope } from '../../../domain/device.ts';
import type { Correction } from '../../../domain/notification.ts';
import type { CapTerms } from '../../../domain/policies.ts';
import { isCurrent } from './plan-due.ts';
import { storedAudience } from './terms.ts';

export interface ExplainedJob {
  readonly id: string;
  readonly audience: AskedAudience;
  /** Its segments are in their places. Null: the audience was given as selections. */
  readonly expression: string | null;
  /** All that it is for, in order. */
  readonly scopes: readonly (readonly [appId: number, platformId: number])[];
  readonly sendAtMs: number;
  /** The job that was sent first, which this one retries; null: it is no retry. */
  readonly retries: string | null;
  /** The deed of a correction. Null: it is none. */
  readonly correction: Correction | null;
  /** Null: no cap concerns it. */
  readonly caps: CapTerms | null;
  /** Target and filter tags that address no device now, while the job is not planned. */
  readonly lostTagIds: readonly number[];
  /** The device has come after the part for its (app, platform) was planned. */
  readonly isDeviceLate: boolean;
  /** The planner has found no device of its audience in the (app, platform) of the device. */
  readonly wasForNobodyHere: boolean;
}

interface Reading {
  readonly clientId: number;
  /** Null: all of its client. */
  readonly publisher: string | null;
  readonly scope: Scope;
  /** The place of the device; null: it is not there. */
  readonly ordinal: number | null;
  /** So long it is known which devices have moved. */
  readonly movesKeptDays: number;
}

/** Null: the client has no such notification, or, with a publisher, it is another's. */
export async function readExplainedJob(
  sql: Sql,
  notificationId: string,
  { clientId, publisher, scope: { appId, platformId }, ordinal, movesKeptDays }: Reading,
): Promise<ExplainedJob | null> {
  const [row] = await sql<ExplainedJob[]>`
    select n.id, ${storedAudience(sql)} as audience, n.audience_expression as expression,
      -- That of a push with several waves is the moment of the newest.
      floor(extract(epoch from least(n.send_at, n.first_send_at)) * 1000)::float8 as "sendAtMs",
      n.retries, n.correction, n.caps,
      case
        when n.state in ('SCHEDULED', 'QUEUED') then array(
          select t.id from unnest(n.any_tag_ids || n.all_tag_ids) as t (id) where not ${isCurrent(sql)}
        )
        else '{}'
      end as "lostTagIds",
      (
        select coalesce(json_agg(json_build_array(s.app_id, s.platform_id) order by s.app_id, s.platform_id), '[]')
        from notification_scopes s where s.notification_id = n.id
      ) as scopes,
      exists (
        select from notification_scopes s
        where s.notification_id = n.id and s.app_id = ${appId} and s.platform_id = ${platformId}
          and s.planned_chunks is not null and s.ordinal_end <= ${ordinal}::integer
          -- A wave that comes is planned anew.
          and n.next_wave_at is null
          and n.send_at > now() - make_interval(days => ${movesKeptDays}::integer)
          and not exists (
            select from moved_ordinals m
            where m.app_id = s.app_id and m.platform_id = s.platform_id
              and m.to_ordinal = ${ordinal}::integer and m.from_ordinal < s.ordinal_end
          )
      ) as "isDeviceLate",
      n.state not in ('SCHEDULED', 'QUEUED') and n.next_wave_at is null
        -- These may have come before it was planned.
        and (n.state not in ('CANCELLED', 'PAUSED') or exists (
          select from notification_scopes s where s.notification_id = n.id and s.planned_chunks is not null
        ))
        and exists (
          select from notification_scopes s
          where s.notification_id = n.id and s.app_id = ${appId} and s.platform_id = ${platformId}
            and s.planned_chunks is null and coalesce(s.total, 0) + coalesce(s.reached, 0) = 0
        ) as "wasForNobodyHere"
    from notifications n
    where n.id = ${notificationId}::uuid and n.client_id = ${clientId}
      and (${publisher}::text is null or n.user_name = ${publisher})`;
  return row ?? null;
}
