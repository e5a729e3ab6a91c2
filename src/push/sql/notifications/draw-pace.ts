/**
 * Draws sends of a notification with a rate, for all nodes, by the database's clock: each draw
 * takes the next piece of one sequence in time. Pieces never overlap; time that has passed unused
 * is lost, so there is no burst.
 */

import type { Sql } from '../../../database/sql.ts';

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

export interface DrawnPace {
  /** 0: too much is drawn already; `startsInMs` says when that is over. */
  readonly sends: number;
  /** Time from the draw to the piece's beginning, or to the next draw that may succeed. */
  readonly startsInMs: number;
  readonly lengthMs: number;
}

/** Null: the notification is held to no rate. */
export async function drawPace(sql: Sql, notificationId: string): Promise<DrawnPace | null> {
  const drawn = await draw(sql, notificationId);
  if (drawn !== undefined) return drawn;
  await sql`
    insert into notification_paces (notification_id, drawn_until)
    select id, clock_timestamp() from notifications
    where id = ${notificationId}::uuid and rate_per_second is not null
    on conflict (notification_id) do nothing`;
  return (await draw(sql, notificationId)) ?? null;
}

async function draw(sql: Sql, notificationId: string): Promise<DrawnPace | undefined> {
  // Materialized, so that the clock is read once, and after the wait for the row.
  const [row] = await sql<DrawnPace[]>`
    with locked as materialized (
      select p.notification_id, p.drawn_until, n.rate_per_second::float8 / 1000 as per_ms
      from notification_paces p join notifications n on n.id = p.notification_id
      where p.notification_id = ${notificationId}::uuid and n.rate_per_second is not null
      for update of p
    ),
    timed as materialized (
      select *, clock_timestamp() as at from locked
    ),
    wanted as (
      select *, greatest(drawn_until, at) as starts_at,
        greatest(1, floor(per_ms * ${PIECE_MS}::float8)) as sends,
        extract(epoch from drawn_until - at)::float8 * 1000 - ${DRAWN_AHEAD_MS}::float8 as early_ms
      from timed
    ),
    drawn as (
      update notification_paces p
      set drawn_until = w.starts_at + w.sends / w.per_ms * interval '1 millisecond'
      from wanted w where p.notification_id = w.notification_id and w.early_ms <= 0
    )
    select case when early_ms <= 0 then sends else 0 end::integer as sends,
      case when early_ms <= 0 then extract(epoch from starts_at - at) * 1000 else early_ms end::float8 as "startsInMs",
      (sends / per_ms)::float8 as "lengthMs"
    from wanted`;
  return row;
}

/** Pieces drawn at the old rate count no longer than a draw reaches ahead. */
export const shortenPace = (sql: Sql, notificationId: string) => sql`
  update notification_paces
  set drawn_until = least(
    drawn_until, clock_timestamp() + ${DRAWN_AHEAD_MS + PIECE_MS}::float8 * interval '1 millisecond'
  )
  where notification_id = ${notificationId}::uuid`;
