/**
 * Draws sends of a notification with a rate, for all nodes, by the database's clock: each draw
 * takes the next piece of one sequence in time. Pieces never overlap; time that has passed unused
 * is lost, so there is no burst.
 */

import type { Sql } from '../../../database/sql.ts';
import { sumsOfBegun } from '../ledger/begun-counts.ts';
import { heldRate } from './held-rate.ts';

/**
 * @limit time of a piece of a rate (`ratePerSecond`) that is drawn at once, or one send → the next
 * draw
 */
export const PIECE_MS = 100;
/**
 * How far ahead pieces are drawn: for as long as this a draw may take without a gap.
 * @limit how far ahead pieces are drawn → the next draw
 */
export const DRAWN_AHEAD_MS = 300;

/** @limit between looks whether the devices of a stage (`pauseAfter`) are all sent to */
const STAGE_LOOK_MS = 250;
/**
 * A provider that takes longer to answer gets more sends than the stage has devices.
 * @limit drawn sends of a stage are waited for → they count as lost, and others are drawn
 */
const STAGE_PATIENCE_MS = 3_000;

export interface DrawnPace {
  /** 0: too much is drawn already; `startsInMs` says when that is over. */
  readonly sends: number;
  /** Time from the draw to the piece's beginning, or to the next draw that may succeed. */
  readonly startsInMs: number;
  readonly lengthMs: number;
}

/** Null: the notification is held to no rate. */
export async function drawPace(sql: Sql, notificationId: string): Promise<DrawnPace | null> {
  const drawn = (await draw(sql, notificationId)) ?? (await beginPace(sql, notificationId));
  if (drawn === null) return null;
  const { isStageDrawn, ...pace } = drawn;
  if (isStageDrawn) await endStage(sql, notificationId);
  return pace;
}

interface Draw extends DrawnPace {
  /** Until the notification pauses by itself, nothing is left to be drawn. */
  readonly isStageDrawn: boolean;
}

async function beginPace(sql: Sql, notificationId: string): Promise<Draw | null> {
  await sql`
    insert into notification_paces (notification_id, drawn_until, stage_left)
    select n.id, clock_timestamp(), n.pause_after from notifications n
    where n.id = ${notificationId}::uuid and ${heldRate(sql)} is not null
    on conflict (notification_id) do nothing`;
  return (await draw(sql, notificationId)) ?? null;
}

async function draw(sql: Sql, notificationId: string): Promise<Draw | undefined> {
  // Materialized, so that the clock is read once, and after the wait for the row.
  const [row] = await sql<Draw[]>`
    with locked as materialized (
      select p.notification_id, p.drawn_until, ${heldRate(sql)}::float8 / 1000 as per_ms,
        case when n.pause_after is not null and n.stage_ended_at is null
          then coalesce(p.stage_left, n.pause_after) end as left_of_stage
      from notification_paces p join notifications n on n.id = p.notification_id
      where p.notification_id = ${notificationId}::uuid and ${heldRate(sql)} is not null
      for update of p
    ),
    timed as materialized (
      select *, clock_timestamp() as at from locked
    ),
    wanted as (
      select *, greatest(drawn_until, at) as starts_at,
        least(greatest(1, floor(per_ms * ${PIECE_MS}::float8)), left_of_stage) as sends,
        case when left_of_stage = 0 then ${STAGE_LOOK_MS}::float8
          else extract(epoch from drawn_until - at)::float8 * 1000 - ${DRAWN_AHEAD_MS}::float8 end as early_ms
      from timed
    ),
    drawn as (
      update notification_paces p
      set drawn_until = w.starts_at + w.sends / w.per_ms * interval '1 millisecond',
        stage_left = w.left_of_stage - w.sends
      from wanted w where p.notification_id = w.notification_id and w.early_ms <= 0
    )
    select left_of_stage is not distinct from 0 as "isStageDrawn", case when early_ms <= 0 then sends else 0 end::integer as sends,
      case when early_ms <= 0 then extract(epoch from starts_at - at) * 1000 else early_ms end::float8 as "startsInMs",
      (sends / per_ms)::float8 as "lengthMs"
    from wanted`;
  return row;
}

/**
 * Pauses the notification when the devices of its stage are all sent to. Sends that were drawn and
 * lost, as those of a connection that was not open yet, can be drawn again.
 */
async function endStage(sql: Sql, notificationId: string): Promise<void> {
  await sql`
    with sent as materialized (
      select n.pause_after - b.total - (
        -- Who was left out by a cap had no turn.
        select coalesce(sum(s.total - coalesce(s.withheld, 0)), 0) from notification_scopes s
        where s.notification_id = n.id
      ) + (
        -- Given back before their turn came.
        select count(*) from retries r where r.notification_id = n.id and r.attempts = 0
      ) as left_of_stage
      from notifications n cross join lateral (${sumsOfBegun(sql, sql`true`)}) b
      where n.id = ${notificationId}::uuid
    ),
    paused as (
      update notifications n set state = 'PAUSED', stage_ended_at = now()
      from sent
      where n.id = ${notificationId}::uuid and sent.left_of_stage <= 0
        and n.state = 'RUNNING' and n.stage_ended_at is null
    )
    update notification_paces p set stage_left = sent.left_of_stage
    from sent
    where p.notification_id = ${notificationId}::uuid and p.stage_left = 0 and sent.left_of_stage > 0
      and p.drawn_until < clock_timestamp() - ${STAGE_PATIENCE_MS}::float8 * interval '1 millisecond'`;
}

/** Pieces drawn at the old rate count no longer than a draw reaches ahead. */
export const shortenPace = (sql: Sql, notificationId: string) => sql`
  update notification_paces
  set drawn_until = least(
    drawn_until, clock_timestamp() + ${DRAWN_AHEAD_MS + PIECE_MS}::float8 * interval '1 millisecond'
  )
  where notification_id = ${notificationId}::uuid`;
