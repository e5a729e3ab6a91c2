/**
 * Accepts notifications with their scopes and idempotency keys, in one statement. One whose key is
 * taken (younger than 24 hours) is not written: if two calls use one key at once, the second waits.
 * The keys of a call are different.
 */

import { SCOPE } from '../../../database/columns.ts';
import { boolean, float8, integer, json, rowsOf, text, uuid } from '../../../database/rows.ts';
import type { Fragment, Sql } from '../../../database/sql.ts';
import type {
  Correction,
  NotificationState,
  TemplatedPayload,
} from '../../../domain/notification.ts';
import type { PushPolicy } from '../../../domain/policies.ts';
import type { Moment, PushWaves } from '../../../domain/waves.ts';
import { LOOK_MINUTES } from '../waves/plan-wave.ts';
import type { NotificationTerms } from './terms.ts';
import { otherTermNames, TERMS, termNames } from './terms.ts';

export interface NewNotification extends NotificationTerms {
  readonly id: string;
  readonly clientId: number;
  readonly userName: string;
  /** The expression, as it was given, that its audience was compiled from; absent: selections. */
  readonly expression?: string;
  /** Absent: no template concerns it. */
  readonly templated?: TemplatedPayload;
  /** Null: now. */
  readonly sendAtMs: number | null;
  /** It is sent so long after it was accepted, whatever `sendAtMs` says; absent: as that says. */
  readonly holdSeconds?: number;
  readonly expiresAtMs: number | null;
  readonly scopes: readonly {
    readonly appId: number;
    readonly platformId: number;
    readonly isSimulated: boolean;
  }[];
  readonly idempotency: { readonly key: string; readonly bodyHash: Buffer } | null;
  /** Written by setPolicies. Absent: its client had none. */
  readonly policy?: PushPolicy;
  /** The job that was sent first, of whose chain it is (insert-retry.ts). Absent: of none. */
  readonly retries?: string;
  /** The deed of a correction (insert-correction.ts). Absent: it is none. */
  readonly correction?: Correction;
  /** Its moments, of which `sendAtMs` is the first. Absent: that is its only one. */
  readonly waves?: PushWaves;
}

export interface AcceptedNotification {
  readonly id: string;
  readonly state: NotificationState;
}

/** Answers those that were written: all except those whose idempotency key is taken. */
export function insertNotifications(sql: Sql, notifications: readonly NewNotification[]) {
  const waved = notifications.some(hasWaves) ? wavedParts(sql, notifications) : null;
  return sql<AcceptedNotification[]>`
    with ${asked(sql, notifications)},
    accepted as (
      insert into notifications (
        id, client_id, user_name, state, ${termNames(sql)}, audience_expression, templated, send_at, expires_at
        ${waved?.columns ?? sql``}
      )
      select id, client_id, user_name, case when send_at > now() then 'SCHEDULED' else 'QUEUED' end,
        ${termNames(sql)}, audience_expression, templated, send_at, expires_at
        ${waved?.values ?? sql``}
      from asked ${waved?.joined ?? sql``}
      returning id, state
    ),
    scoped as (
      insert into notification_scopes (notification_id, app_id, platform_id, simulated)
      select id, app_id, platform_id, simulated from accepted join ${askedScopes(sql, notifications)} using (id)
    )
    ${waved?.queries ?? sql``}
    select id, state from accepted`;
}

/**
 * Queries of a statement, without a comma at the end. `asked`: the notifications to write; their
 * idempotency keys are taken by this statement. `anyTagIds`: the targets to write.
 */
export function asked(
  sql: Sql,
  notifications: readonly NewNotification[],
  anyTagIds: Fragment = sql`any_tag_ids`,
) {
  const withKey = notifications.flatMap(({ id, clientId, idempotency }) =>
    idempotency === null ? [] : [{ id, clientId, ...idempotency }],
  );
  return sql`
    key_taken as (
      insert into idempotency_keys as k (client_id, key, body_hash, notification_id)
      select client_id, key, decode(body_hash, 'hex'), id
      from ${keyed(sql, withKey)}
      -- In one order, so that nodes wait for each other and do not deadlock.
      order by client_id, key
      on conflict (client_id, key) do update
        set body_hash = excluded.body_hash, notification_id = excluded.notification_id, created_at = now()
        where k.created_at <= now() - interval '24 hours'
      returning notification_id
    ),
    asked as materialized (
      select id, client_id, user_name, ${anyTagIds} as any_tag_ids, ${otherTermNames(sql)},
        audience_expression, templated,
        -- Never before it was accepted: retries and the payload's ttl end so long after it.
        coalesce(
          now() + hold_seconds * interval '1 second', greatest(to_timestamp(send_at_ms / 1000), now())
        ) as send_at,
        to_timestamp(expires_at_ms / 1000) as expires_at
      from ${given(sql, notifications)}
      where not is_keyed or id in (select notification_id from key_taken)
    )`;
}

/** Rows `s`: every (app, platform) of each, with its id. */
export const askedScopes = (sql: Sql, notifications: readonly NewNotification[]) =>
  scopes(
    sql,
    notifications.flatMap(({ id, scopes }) => scopes.map((scope) => ({ id, ...scope }))),
  );

type Keyed = Pick<NewNotification, 'id' | 'clientId'> & NonNullable<NewNotification['idempotency']>;

const keyed = rowsOf<Keyed>('keyed', {
  id: uuid(({ id }) => id),
  client_id: integer(({ clientId }) => clientId),
  key: text(({ key }) => key),
  body_hash: text(({ bodyHash }) => bodyHash.toString('hex')),
});

const given = rowsOf<NewNotification>('given', {
  id: uuid(({ id }) => id),
  client_id: integer(({ clientId }) => clientId),
  user_name: text(({ userName }) => userName),
  ...TERMS,
  audience_expression: text(({ expression }) => expression ?? null),
  templated: json(({ templated }) => templated ?? null),
  send_at_ms: float8(({ sendAtMs }) => sendAtMs),
  hold_seconds: integer(({ holdSeconds }) => holdSeconds ?? null),
  expires_at_ms: float8(({ expiresAtMs }) => expiresAtMs),
  is_keyed: boolean(({ idempotency }) => idempotency !== null),
});

type InScope = Pick<NewNotification, 'id'> & NewNotification['scopes'][number];

const scopes = rowsOf<InScope>('s', {
  id: uuid(({ id }) => id),
  ...SCOPE,
  simulated: boolean(({ isSimulated }) => isSimulated),
});

type Waved = NewNotification & { readonly waves: PushWaves };

const hasWaves = (notification: NewNotification): notification is Waved =>
  notification.waves !== undefined;

/** The parts of the statement that write the moments. */
function wavedParts(sql: Sql, notifications: readonly NewNotification[]) {
  const waved = notifications.filter(hasWaves);
  const rows = waved.flatMap(({ id, waves }) => waves.moments.map((moment) => ({ id, ...moment })));
  return {
    columns: sql`, send_at_local, sends_late, next_wave_at`,
    values: sql`, send_at_local, sends_late, case when send_at_local is not null
      then least(send_at, now() + ${LOOK_MINUTES}::integer * interval '1 minute') end`,
    joined: sql`left join ${atLocal(sql, waved)} using (id)`,
    queries: sql`, waved as (
      insert into push_waves (notification_id, at, zones, has_others, is_skipped)
      select id, to_timestamp(at_ms / 1000), array(select json_array_elements_text(zones)), has_others, is_skipped
      from accepted join ${moments(sql, rows)} using (id)
    )`,
  };
}

const atLocal = rowsOf<Waved>('at_local', {
  id: uuid(({ id }) => id),
  send_at_local: text(({ waves }) => waves.sendAtLocal),
  sends_late: boolean(({ waves }) => waves.sendsLate),
});

const moments = rowsOf<{ readonly id: string } & Moment>('moments', {
  id: uuid(({ id }) => id),
  at_ms: float8(({ atMs }) => atMs),
  zones: json(({ zones }) => zones),
  has_others: boolean(({ hasOthers }) => hasOthers),
  is_skipped: boolean(({ isSkipped }) => isSkipped),
});
