/**
 * Plans the due waves of one job: in each (app, platform) the next one, when the wave before it is
 * done there. So a device is never in two waves at once, and the reach of the earlier ones is
 * complete when a later one is claimed. Contract:
 * - runs in a transaction that holds the job, and the client, so that no device moves;
 * - while waves are to come, `open_chunks` has one more than there are chunks, so nothing ends it;
 * - a group with a parked part gets no further wave: an operator may release that part.
 */

import type { Sql } from '../../../database/sql.ts';
import type { Scope } from '../../../domain/device.ts';
import { currentTargets, scoped } from '../notifications/plan-due.ts';

export interface DueJob {
  readonly id: string;
  readonly clientId: number;
}

/** Jobs that have a wave to plan, or no wave any more. */
export const listDueJobs = (sql: Sql, limit: number) => sql<DueJob[]>`
  select id, client_id as "clientId" from notifications
  where next_wave_at is not null and (
    state = 'CANCELLED' or finished_at is not null
    or (state in ('SCHEDULED', 'QUEUED', 'RUNNING') and least(next_wave_at, expires_at) <= now())
  )
  order by next_wave_at limit ${limit}::integer`;

export interface HeldJob extends DueJob {
  readonly sendAtLocal: string;
  /** It was cancelled, or has ended. */
  readonly isOver: boolean;
  /** It counts the waves to come in its open chunks. */
  readonly hasBegun: boolean;
}

/** Locks a job. Null: it needs nothing now, or somebody else plans it. */
export async function holdDueJob(tx: Sql, { id, clientId }: DueJob): Promise<HeldJob | null> {
  // First: who changes the ordinals of devices holds it.
  const [client] = await tx`select from clients where id = ${clientId} for key share skip locked`;
  if (client === undefined) return null;
  const [job = null] = await tx<HeldJob[]>`
    select id, client_id as "clientId", send_at_local as "sendAtLocal",
      state = 'CANCELLED' or finished_at is not null as "isOver",
      state not in ('SCHEDULED', 'QUEUED') and finished_at is null as "hasBegun"
    from notifications
    where id = ${id}::uuid and next_wave_at is not null and (
      state = 'CANCELLED' or finished_at is not null
      or (state in ('SCHEDULED', 'QUEUED', 'RUNNING') and least(next_wave_at, expires_at) <= now())
    )
    for no key update skip locked`;
  return job;
}

/** No wave comes any more: what was planned is all of it. */
export const endWaves = (tx: Sql, { id, hasBegun }: HeldJob) => tx`
  update notifications set next_wave_at = null, open_chunks = open_chunks - ${hasBegun ? 1 : 0}::integer
  where id = ${id}::uuid`;

export interface PlannedWave extends Scope {
  readonly chunks: number;
}

/** Writes the chunks. Answers the (app, platform)s where a wave was planned. */
export const planNextWaves = (tx: Sql, { id }: HeldJob) => tx<PlannedWave[]>`
  with due as (
    select id, 0 as before, state, any_tag_ids, all_tag_ids, is_to_everybody,
      coalesce(expires_at <= now(), false) as has_expired
    from notifications where id = ${id}::uuid
  ),
  next as materialized (
    select s.app_id, s.platform_id, s.total, w.at
    from due d
    join notification_scopes s on s.notification_id = d.id
    cross join lateral (
      select at from push_waves
      where notification_id = d.id and not is_skipped
        and at > coalesce((
          select max(p.at) from push_wave_parts p
          where p.notification_id = d.id and p.app_id = s.app_id and p.platform_id = s.platform_id
        ), '-infinity')
      order by at limit 1
    ) w
    where (w.at <= now() or d.has_expired) and not exists (
      select from chunks c
      where c.notification_id = d.id and c.app_id = s.app_id and c.platform_id = s.platform_id
        and c.parked_at is null
    )
  ),
  ${scoped(tx, tx`and exists (select from next x where x.app_id = s.app_id and x.platform_id = s.platform_id)`)},
  planned as (
    insert into chunks (notification_id, app_id, platform_id, group_number, wave_at)
    select s.id, s.app_id, s.platform_id, unnest(s.group_numbers), x.at
    from scoped s join next x on (x.app_id, x.platform_id) = (s.app_id, s.platform_id)
    on conflict (notification_id, app_id, platform_id, group_number) do nothing
    returning app_id, platform_id
  ),
  parts as (
    insert into push_wave_parts (notification_id, at, app_id, platform_id, total_before)
    select ${id}::uuid, at, app_id, platform_id, coalesce(total, 0) from next
  ),
  marked as (
    update notification_scopes s set
      ordinal_end = m.ordinal_end,
      planned_chunks = coalesce(s.planned_chunks, 0) + cardinality(m.group_numbers)
    from scoped m
    where cardinality(m.group_numbers) > 0
      and s.notification_id = m.id and (s.app_id, s.platform_id) = (m.app_id, m.platform_id)
  ),
  addressed_now as (
    update notifications n set
      any_tag_ids = ${currentTargets(tx)},
      send_at = greatest(n.send_at, least(now(), (select max(at) from next)))
    where n.id = ${id}::uuid and exists (select from next)
  )
  select x.app_id as "appId", x.platform_id as "platformId",
    (select count(*) from planned p where (p.app_id, p.platform_id) = (x.app_id, x.platform_id))::integer as chunks
  from next x`;

/**
 * A statement of its own: it sees what was planned. `lookAgainMs`: so long after a wave that was
 * due and could not be planned. Answers when a job began, and its next wave; null: none.
 */
export async function advanceWaves(
  tx: Sql,
  { id, hasBegun }: HeldJob,
  chunks: number,
  lookAgainMs: number,
): Promise<{ readonly dueAtMs: number; readonly plannedAtMs: number }> {
  const [row] = await tx<{ dueAtMs: number; plannedAtMs: number }[]>`
    with coming as (
      select min(w.at) as at
      from notification_scopes s
      join push_waves w on w.notification_id = s.notification_id and not w.is_skipped
      where s.notification_id = ${id}::uuid and w.at > coalesce((
        select max(p.at) from push_wave_parts p
        where p.notification_id = s.notification_id and p.app_id = s.app_id and p.platform_id = s.platform_id
      ), '-infinity')
    )
    update notifications n set
      state = 'RUNNING',
      open_chunks = case when ${hasBegun}::boolean then n.open_chunks - 1 else 0 end + ${chunks}::integer
        + case when coming.at is null then 0 else 1 end,
      next_wave_at = case
        when coming.at is null then null
        when least(coming.at, n.expires_at) > now() then coming.at
        else now() + ${lookAgainMs}::float8 * interval '1 millisecond' end
    from coming
    where n.id = ${id}::uuid
    returning (extract(epoch from n.send_at) * 1000)::float8 as "dueAtMs",
      (extract(epoch from now()) * 1000)::float8 as "plannedAtMs"`;
  if (row === undefined) throw new Error(`${id} is gone while it is held`);
  return row;
}
