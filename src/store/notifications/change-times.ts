/** Gives a notification another end, or, before it is due, another beginning. */

import type { NotificationState } from '../../domain/notification.ts';
import { hasEnded } from '../../domain/notification.ts';
import type { SqlPool } from '../sql.ts';
import { transact } from '../transact.ts';

/** Epoch milliseconds. Absent: it stays. */
export interface NewTimes {
  readonly sendAtMs?: number;
  /** Null: it has no end. */
  readonly expiresAtMs?: number | null;
}

interface Times {
  readonly state: NotificationState;
  readonly sendAtMs: number;
  readonly expiresAtMs: number | null;
}

export type TimesChange =
  | (Times & { readonly kind: 'changed' })
  /** It has ended, or was to begin before now. */
  | (Times & { readonly kind: 'ended' | 'due' })
  /** As asked for, it would end before it begins. */
  | (Times & { readonly kind: 'out-of-order' });

/** Null: the client has no such notification, or, with a publisher, it is another's. */
export const changeTimes = (
  sql: SqlPool,
  clientId: number,
  notificationId: string,
  publisher: string | null,
  { sendAtMs, expiresAtMs }: NewTimes,
): Promise<TimesChange | null> =>
  transact(sql, async (tx) => {
    // As accepting does: while devices are being moved (housekeeping/bar-sends.ts), nothing that
    // was far away may become due.
    if (sendAtMs !== undefined) {
      await tx`select from clients where id = ${clientId} for key share`;
    }
    const [row] = await tx<(Times & { readonly isAhead: boolean })[]>`
      select state, send_at > now() as "isAhead",
        floor(extract(epoch from send_at) * 1000)::float8 as "sendAtMs",
        floor(extract(epoch from expires_at) * 1000)::float8 as "expiresAtMs"
      from notifications
      where id = ${notificationId}::uuid and client_id = ${clientId}
        and (${publisher}::text is null or user_name = ${publisher})
      for no key update`;
    if (row === undefined) return null;
    const { isAhead, ...known } = row;
    if (hasEnded(known.state)) return { ...known, kind: 'ended' };
    if (sendAtMs !== undefined && !isAhead) return { ...known, kind: 'due' };
    const times: Times = {
      state: known.state,
      sendAtMs: sendAtMs ?? known.sendAtMs,
      expiresAtMs: expiresAtMs === undefined ? known.expiresAtMs : expiresAtMs,
    };
    if (times.expiresAtMs !== null && times.expiresAtMs <= times.sendAtMs) {
      return { ...times, kind: 'out-of-order' };
    }
    const [changed] = await tx<Pick<Times, 'sendAtMs'>[]>`
      update notifications set
        send_at = case when ${sendAtMs ?? null}::float8 is null then send_at
          else greatest(to_timestamp(${sendAtMs ?? null}::float8 / 1000), now()) end,
        expires_at = to_timestamp(${times.expiresAtMs}::float8 / 1000)
      where id = ${notificationId}::uuid
      returning floor(extract(epoch from send_at) * 1000)::float8 as "sendAtMs"`;
    return { ...times, ...changed, kind: 'changed' };
  });
