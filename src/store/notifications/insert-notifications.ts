/**
 * Accepts notifications, each with its scopes and its idempotency key, in one statement, so in one
 * transaction. A notification whose key is taken (younger than 24 hours) is not written: if two
 * calls use one key at once, the second waits for the first and is then refused. The notifications
 * of one call have different keys.
 */

import type { Audience, NotificationState, Payload } from '../../domain/notification.ts';
import type { Sql } from '../sql.ts';
import { list, textList } from '../sql.ts';

export interface NewNotification {
  readonly id: string;
  readonly clientId: number;
  readonly userName: string;
  readonly audience: Audience;
  readonly payload: Payload;
  readonly isAtMostOnce: boolean;
  /** Null: now. */
  readonly sendAtMs: number | null;
  readonly expiresAtMs: number | null;
  readonly scopes: readonly {
    readonly appId: number;
    readonly platformId: number;
    readonly isSimulated: boolean;
  }[];
  readonly idempotency: { readonly key: string; readonly bodyHash: Buffer } | null;
}

/** A notification that was written. */
export interface AcceptedNotification {
  readonly id: string;
  readonly state: NotificationState;
}

/** Answers those that were written: all except those whose idempotency key is taken. */
export function insertNotifications(sql: Sql, notifications: readonly NewNotification[]) {
  const keyed = notifications.flatMap(({ id, clientId, idempotency }) =>
    idempotency === null ? [] : [{ id, clientId, ...idempotency }],
  );
  const scopes = notifications.flatMap(({ id, scopes }) =>
    scopes.map((scope) => ({ id, ...scope })),
  );
  return sql<AcceptedNotification[]>`
    with key_taken as (
      insert into idempotency_keys as k (client_id, key, body_hash, notification_id)
      select client_id, key, decode(body_hash, 'hex'), id
      from unnest(
        ${list(keyed.map(({ clientId }) => clientId))}::integer[],
        ${textList(keyed.map(({ key }) => key))}::text[],
        ${list(keyed.map(({ bodyHash }) => bodyHash.toString('hex')))}::text[],
        ${list(keyed.map(({ id }) => id))}::uuid[]
      ) as t(client_id, key, body_hash, id)
      -- In one order, so that nodes wait for each other and do not deadlock.
      order by client_id, key
      on conflict (client_id, key) do update
        set body_hash = excluded.body_hash, notification_id = excluded.notification_id, created_at = now()
        where k.created_at <= now() - interval '24 hours'
      returning notification_id
    ),
    accepted as (
      insert into notifications (
        id, client_id, user_name, state, any_tag_ids, all_tag_ids, none_tag_ids, payload, at_most_once, send_at, expires_at
      )
      select id, client_id, user_name, case when send_at > now() then 'SCHEDULED' else 'QUEUED' end,
        any_tag_ids::integer[], all_tag_ids::integer[], none_tag_ids::integer[], payload::json, at_most_once = 1,
        send_at, to_timestamp(expires_at / 1000)
      from unnest(
        ${list(notifications.map(({ id }) => id))}::uuid[],
        ${list(notifications.map(({ clientId }) => clientId))}::integer[],
        ${textList(notifications.map(({ userName }) => userName))}::text[],
        ${textList(notifications.map(({ audience }) => list(audience.anyTagIds)))}::text[],
        ${textList(notifications.map(({ audience }) => list(audience.allTagIds)))}::text[],
        ${textList(notifications.map(({ audience }) => list(audience.noneTagIds)))}::text[],
        ${textList(notifications.map(({ payload }) => JSON.stringify(payload)))}::text[],
        ${list(notifications.map(({ isAtMostOnce }) => Number(isAtMostOnce)))}::integer[],
        ${notifications.map(({ sendAtMs }) => sendAtMs)}::float8[],
        ${notifications.map(({ expiresAtMs }) => expiresAtMs)}::float8[],
        ${list(notifications.map(({ idempotency }) => Number(idempotency !== null)))}::integer[]
      ) as t(id, client_id, user_name, any_tag_ids, all_tag_ids, none_tag_ids, payload, at_most_once, asked_at, expires_at, keyed)
      -- Never before it was accepted: retries and the payload's ttl end so long after it.
      cross join lateral (select greatest(to_timestamp(asked_at / 1000), now()) as send_at) due
      where keyed = 0 or id in (select notification_id from key_taken)
      returning id, state
    ),
    scoped as (
      insert into notification_scopes (notification_id, app_id, platform_id, simulated)
      select a.id, s.app_id, s.platform_id, s.simulated = 1
      from accepted a
      join unnest(
        ${list(scopes.map(({ id }) => id))}::uuid[],
        ${list(scopes.map(({ appId }) => appId))}::integer[],
        ${list(scopes.map(({ platformId }) => platformId))}::smallint[],
        ${list(scopes.map(({ isSimulated }) => Number(isSimulated)))}::integer[]
      ) as s(id, app_id, platform_id, simulated) using (id)
    )
    select id, state from accepted`;
}
