/** Changes a notification's end, urgency, rate or beginning; locked until the caller's commit. */

import { constantList, rowsOf } from '../../../database/rows.ts';
import type { Sql } from '../../../database/sql.ts';
import type { NotificationState } from '../../../domain/notification.ts';
import { hasEnded } from '../../../domain/notification.ts';
import type { PushOptions } from '../../../domain/push-options.ts';
import { CHANGEABLE_OPTIONS, pushOption } from '../../../domain/push-options.ts';
import { shortenPace } from './draw-pace.ts';
import { optionColumns, selectedOptions } from './terms.ts';

interface Changeable extends PushOptions {
  /** Epoch milliseconds. */
  readonly sendAtMs: number;
  /** Null: it has no end. */
  readonly expiresAtMs: number | null;
}

const NAMES = ['sendAtMs', 'expiresAtMs', ...CHANGEABLE_OPTIONS] as const;

export type ChangedField = keyof Changeable;

/** Absent: it stays. */
export interface NotificationChange extends Partial<Changeable> {
  /** It is sent so long after this change, by the database's time, whatever `sendAtMs` says. */
  readonly holdSeconds?: number;
}

interface ChangedNotification extends Changeable {
  readonly kind:
    | 'changed'
    /** It has ended, or was to begin before now. */
    | 'ended'
    | 'due'
    /** The request would make it end before it begins. */
    | 'out-of-order'
    /** It is sent at local time: that has no one `sendAt`. */
    | 'local'
    /** It is a retry, which ends before `retriesUntilMs`. */
    | 'retry';
  /** When the reach that it leaves out may go. Null: it is no retry. */
  readonly retriesUntilMs: number | null;
  readonly state: NotificationState;
  readonly changed: readonly ChangedField[];
}

/** Null: the client has no such notification, or, with a publisher, it is another's. */
export async function changeNotification(
  tx: Sql,
  clientId: number,
  notificationId: string,
  publisher: string | null,
  change: NotificationChange,
): Promise<ChangedNotification | null> {
  // While devices are moved (devices/sql/bar-sends.ts), nothing far away may become due.
  if (change.sendAtMs !== undefined) {
    await tx`select from clients where id = ${clientId} for key share`;
  }
  const [row] = await tx<
    (Omit<ChangedNotification, 'kind' | 'changed'> & {
      readonly isAhead: boolean;
      readonly isLocal: boolean;
    })[]
  >`
    select n.state, ${selectedOptions(tx)}, n.send_at > now() as "isAhead", n.send_at_local is not null as "isLocal",
      floor(extract(epoch from n.retries_until) * 1000)::float8 as "retriesUntilMs",
      floor(extract(epoch from n.send_at) * 1000)::float8 as "sendAtMs",
      floor(extract(epoch from n.expires_at) * 1000)::float8 as "expiresAtMs"
    from notifications n
    where id = ${notificationId}::uuid and client_id = ${clientId}
      and (${publisher}::text is null or user_name = ${publisher})
    for no key update`;
  if (row === undefined) return null;
  const { isAhead, isLocal, ...known } = row;
  if (hasEnded(known.state)) return { ...known, kind: 'ended', changed: [] };
  if (change.sendAtMs !== undefined && isLocal) return { ...known, kind: 'local', changed: [] };
  if (change.sendAtMs !== undefined && !isAhead) return { ...known, kind: 'due', changed: [] };
  const { holdSeconds = null, ...others } = change;
  const asked = { ...known, ...others };
  if (asked.expiresAtMs !== null && asked.expiresAtMs <= asked.sendAtMs) {
    return { ...asked, kind: 'out-of-order', changed: [] };
  }
  if ((change.expiresAtMs ?? 0) > (known.retriesUntilMs ?? Number.POSITIVE_INFINITY)) {
    return { ...asked, kind: 'retry', changed: [] };
  }
  const sendAtMs = change.sendAtMs ?? null;
  const [written] = await tx<Pick<Changeable, 'sendAtMs'>[]>`
    update notifications n set
      send_at = case
        when ${holdSeconds}::integer is not null then now() + ${holdSeconds}::integer * interval '1 second'
        when ${sendAtMs}::float8 is null then send_at
        else greatest(to_timestamp(${sendAtMs}::float8 / 1000), now()) end,
      expires_at = to_timestamp(${asked.expiresAtMs}::float8 / 1000),
      ${assignedOptions(tx)}
    from ${given(tx, [asked])}
    where id = ${notificationId}::uuid
    returning floor(extract(epoch from send_at) * 1000)::float8 as "sendAtMs"`;
  if (asked.ratePerSecond !== known.ratePerSecond) await shortenPace(tx, notificationId);
  const changed = NAMES.filter((name) => asked[name] !== known[name]);
  return { ...asked, ...written, kind: 'changed', changed };
}

const given = rowsOf<PushOptions>('given', optionColumns(CHANGEABLE_OPTIONS));

const assignedOptions = constantList(
  CHANGEABLE_OPTIONS.map((name) => {
    const { column } = pushOption(name);
    return `${column} = given.${column}`;
  }),
);
