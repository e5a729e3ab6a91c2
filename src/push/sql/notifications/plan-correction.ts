/**
 * Plans a correction or retraction with its acceptance (decision 77): a chunk for each group that
 * may hold a device which a job of its chain has reached, or is still to be sent to. Devices of its
 * scopes do not move from then on, since it is open.
 */

import type { Sql } from '../../../database/sql.ts';
import { list } from '../../../database/sql.ts';
import { GROUP_DEVICES } from '../../../domain/device.ts';
import type { Correction } from '../../../domain/notification.ts';

interface CorrectionToPlan {
  readonly id: string;
  readonly first: string;
  readonly correction: Correction;
  readonly untilMs: number;
  /** The jobs of its chain, without itself. */
  readonly chain: readonly string[];
  /** Its parts wait until a job of the chain has ended (advance-notifications.ts). */
  readonly isWaiting: boolean;
}

/** Answers how many chunks. The transaction holds the job that it corrects. */
export async function planCorrection(
  tx: Sql,
  { id, first, correction, untilMs, chain, isWaiting }: CorrectionToPlan,
): Promise<number> {
  const ids = tx`${list(chain)}::uuid[]`;
  const [row] = await tx<{ chunks: number }[]>`
    with concerned as (
      select app_id, platform_id, group_number from push_reach where notification_id = any (${ids})
      union
      select app_id, platform_id, group_number from chunks where notification_id = any (${ids})
      union
      select app_id, platform_id, ordinal / ${GROUP_DEVICES}::integer from retries
      where notification_id = any (${ids})
      union
      select app_id, platform_id, ('x' || encode(substring(reach_words for 4), 'hex'))::bit(32)::integer
      from notification_scopes where notification_id = any (${ids}) and reach_words is not null
    ),
    places as (
      select app_id, platform_id, group_number from concerned
      union
      select m.app_id, m.platform_id, m.to_ordinal / ${GROUP_DEVICES}::integer from concerned c
      join moved_ordinals m on (m.app_id, m.platform_id) = (c.app_id, c.platform_id)
        and m.from_ordinal >= c.group_number * ${GROUP_DEVICES}::integer
        and m.from_ordinal < (c.group_number + 1) * ${GROUP_DEVICES}::integer
    ),
    planned as (
      insert into chunks (notification_id, app_id, platform_id, group_number, available_at)
      select s.notification_id, s.app_id, s.platform_id, p.group_number,
        case when ${isWaiting}::boolean then 'infinity'::timestamptz else now() end
      from places p
      join notification_scopes s on s.notification_id = ${id}::uuid
        and (s.app_id, s.platform_id) = (p.app_id, p.platform_id)
      returning app_id, platform_id
    ),
    counted as (
      select app_id, platform_id, count(*) as chunks from planned group by app_id, platform_id
    ),
    marked as (
      update notification_scopes s set ordinal_end = p.next_ordinal, planned_chunks = c.chunks
      from counted c
      join app_platforms p on (p.app_id, p.platform_id) = (c.app_id, c.platform_id)
      where s.notification_id = ${id}::uuid and (s.app_id, s.platform_id) = (c.app_id, c.platform_id)
    )
    update notifications set
      state = 'RUNNING', open_chunks = (select count(*) from planned), retries = ${first}::uuid,
      retries_until = to_timestamp(${untilMs}::float8 / 1000), correction = ${correction}
    where id = ${id}::uuid
    returning open_chunks as chunks`;
  return row?.chunks ?? 0;
}
