/**
 * Plans the due waves of one job: in each (app, platform) the next one, when the wave before it is
 * done there. So a device is never in two waves at once, and the reach of the earlier ones is
 * complete when a later one is claimed. Contract:
 * - runs in a transaction that holds the job, and the client, so that no device moves;
 * - while waves are to come, `open_chunks` has one more than there are chunks, so nothing ends it;
 * - the part of a wave takes the place of a parked one: its devices stay failed;
 * - the epochs of a chunk rise over the waves, so that a late report of one counts in no other.
 */

import type { Sql } from '../../../database/sql.ts';
import type { Scope } from '../../../domain/device.ts';
import { currentTargets, scoped } from '../notifications/plan-due.ts';

/**
 * Then zones that came since get their waves.
 * @limit minutes between looks for new time zones of a push at local time, and until the first
 */
export const LOOK_MINUTES = 15;

/** @limit claims of a chunk in one wave → those of the next wave begin above it */
const EPOCHS_OF_WAVE = 1_000_000;

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
  /** The database's time, epoch milliseconds. */
  readonly nowMs: number;
  /** Zones were looked for after this time: what lies before it is over. */
  readonly lookedAtMs: number;
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
      state not in ('SCHEDULED', 'QUEUED') and finished_at is null as "hasBegun",
      floor(extract(epoch from now()) * 1000)::float8 as "nowMs",
      floor(extract(epoch from greatest(
        accepted_at, next_wave_at - ${LOOK_MINUTES}::integer * interval '1 minute'
      )) * 1000)::float8 as "lookedAtMs"
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
    select s.app_id, s.platform_id, s.total, w.at, (
      select count(*) from push_wave_parts p
      where p.notification_id = d.id and p.app_id = s.app_id and p.platform_id = s.platform_id
    ) * ${EPOCHS_OF_WAVE}::integer as first_epoch
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
  ${planned(tx)},
  parts as (
    insert into push_wave_parts (notification_id, at, app_id, platform_id, total_before)
    select ${id}::uuid, at, app_id, platform_id, coalesce(total, 0) from next
  ),
  marked as (
    update notification_scopes s set
      ordinal_end = m.ordinal_end,
      planned_chunks = coalesce(s.planned_chunks, 0) + cardinality(m.group_numbers),
      -- The credential may have been mended since the wave before.
      fault = null,
      -- What a lost holder of a parked part has sent is not known: so the reach is incomplete.
      uncertain = s.uncertain + coalesce(r.doubted, 0)
    from scoped m left join replaced r on (r.app_id, r.platform_id) = (m.app_id, m.platform_id)
    where cardinality(m.group_numbers) > 0
      and s.notification_id = m.id and (s.app_id, s.platform_id) = (m.app_id, m.platform_id)
  ),
  addressed_now as (
    update notifications n set
      any_tag_ids = ${currentTargets(tx)},
      send_at = case
        when n.state in ('SCHEDULED', 'QUEUED')
          then greatest(n.accepted_at, least(now(), (select max(at) from next)))
        else greatest(n.send_at, least(now(), (select max(at) from next))) end
    where n.id = ${id}::uuid and exists (select from next)
  )
  select x.app_id as "appId", x.platform_id as "platformId",
    (select count(*) from planned p where (p.app_id, p.platform_id) = (x.app_id, x.platform_id))::integer as chunks
  from next x`;

/** Writes a chunk for each group; a parked one that is there becomes that of the wave. */
const planned = (sql: Sql) => sql`
  -- As it was before this statement: it is parked, else nothing would be planned there.
  replaced as materialized (
    select c.app_id, c.platform_id, sum(greatest(1, c.parked_devices)) as doubted
    from scoped s join chunks c on c.notification_id = s.id
      and (c.app_id, c.platform_id) = (s.app_id, s.platform_id)
      and c.group_number = any (s.group_numbers)
    where c.is_doubted group by c.app_id, c.platform_id
  ),
  planned as (
    insert into chunks (notification_id, app_id, platform_id, group_number, wave_at, epoch)
    select s.id, s.app_id, s.platform_id, unnest(s.group_numbers), x.at, x.first_epoch
    from scoped s join next x on (x.app_id, x.platform_id) = (s.app_id, s.platform_id)
    -- The reach stays, and which blocks were begun: at most once.
    on conflict (notification_id, app_id, platform_id, group_number) do update set
      wave_at = excluded.wave_at, epoch = excluded.epoch, done_blocks = 0, is_doubted = null,
      parked_at = null, parked_devices = null, claims_without_progress = 0, last_failure = null,
      begun_counts = null, open_devices = null, available_at = now(), lease_until = null
    returning app_id, platform_id
  )`;

/**
 * A statement of its own: it sees what was planned. `lookAgainMs`: so long after a wave that was
 * due and could not be planned. `isWave`: one was planned now. Answers when a job began, and when
 * it was planned.
 */
export async function advanceWaves(
  tx: Sql,
  { id, hasBegun }: HeldJob,
  { chunks, isWave }: { readonly chunks: number; readonly isWave: boolean },
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
      state = case when ${hasBegun || isWave}::boolean then 'RUNNING' else n.state end,
      open_chunks = case when not ${hasBegun || isWave}::boolean then n.open_chunks
        else case when ${hasBegun}::boolean then n.open_chunks - 1 else 0 end + ${chunks}::integer
          + case when coming.at is null then 0 else 1 end end,
      -- A zone that came since may have the first one.
      send_at = case when ${hasBegun || isWave}::boolean then n.send_at
        else least(n.send_at, coming.at) end,
      next_wave_at = case
        when coming.at is null then null
        when least(coming.at, n.expires_at) > now()
          then least(coming.at, n.expires_at, now() + ${LOOK_MINUTES}::integer * interval '1 minute')
        else now() + ${lookAgainMs}::float8 * interval '1 millisecond' end
    from coming
    where n.id = ${id}::uuid
    returning (extract(epoch from n.send_at) * 1000)::float8 as "dueAtMs",
      (extract(epoch from now()) * 1000)::float8 as "plannedAtMs"`;
  if (row === undefined) throw new Error(`${id} is gone while it is held`);
  return row;
}
