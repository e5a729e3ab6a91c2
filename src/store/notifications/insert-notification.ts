/**
 * Accepts a notification: itself, its scopes and its idempotency key, in one statement, so in one transaction. With a
 * key that is taken (younger than 24 hours) nothing is written; of two that come at once with one key, the second
 * waits for the first and is then refused.
 */

import type { PlatformOfApp } from '../../domain/device.ts';
import type { Audience, NotificationState, Payload } from '../../domain/notification.ts';
import type { Sql } from '../sql.ts';

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
  readonly scopes: readonly (PlatformOfApp & { readonly isSimulated: boolean })[];
  readonly idempotency: { readonly key: string; readonly bodyHash: Buffer } | null;
}

/** Its state; null when its idempotency key is taken. */
export async function insertNotification(
  sql: Sql,
  notification: NewNotification,
): Promise<NotificationState | null> {
  const { id, clientId, audience, scopes, idempotency } = notification;
  const rows = await sql<{ state: NotificationState }[]>`
    with key_taken as (
      insert into idempotency_keys as k (client_id, key, body_hash, notification_id)
      select ${clientId}::integer, ${idempotency?.key ?? null}::text,
        ${idempotency?.bodyHash ?? null}::bytea, ${id}::uuid
      where ${idempotency !== null}::boolean
      on conflict (client_id, key) do update
        set body_hash = excluded.body_hash, notification_id = excluded.notification_id, created_at = now()
        where k.created_at <= now() - interval '24 hours'
      returning key
    ),
    accepted as (
      insert into notifications (
        id, client_id, user_name, state, any_tag_ids, all_tag_ids, none_tag_ids, payload, at_most_once, send_at, expires_at
      )
      select ${id}::uuid, ${clientId}::integer, ${notification.userName},
        case when send_at > now() then 'SCHEDULED' else 'QUEUED' end,
        ${[...audience.anyTagIds]}::integer[], ${[...audience.allTagIds]}::integer[],
        ${[...audience.noneTagIds]}::integer[], ${JSON.stringify(notification.payload)}::text::json,
        ${notification.isAtMostOnce}::boolean, send_at, to_timestamp(${notification.expiresAtMs}::float8 / 1000)
      from (
        -- Never before it was accepted: retries and the payload's ttl end so long after it.
        select greatest(to_timestamp(${notification.sendAtMs}::float8 / 1000), now()) as send_at
      ) due
      where ${idempotency === null}::boolean or exists (select 1 from key_taken)
      returning id, state
    ),
    scoped as (
      insert into notification_scopes (notification_id, app_id, platform_id, simulated)
      select a.id, s.app_id, s.platform_id, s.simulated
      from accepted a
      cross join unnest(
        ${scopes.map((scope) => scope.appId)}::integer[],
        ${scopes.map((scope) => scope.platformId)}::smallint[],
        ${scopes.map((scope) => String(scope.isSimulated))}::text[]::boolean[]
      ) as s(app_id, platform_id, simulated)
    )
    select state from accepted`;
  return rows[0]?.state ?? null;
}
