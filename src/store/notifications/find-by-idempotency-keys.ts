/**
 * Finds the notifications of a client's idempotency keys of the last 24 hours, with the hashes of
 * their request bodies.
 */

import type { NotificationState } from '../../domain/notification.ts';
import type { Sql } from '../sql.ts';
import { textList } from '../sql.ts';

export interface KeyedNotification {
  readonly key: string;
  readonly id: string;
  readonly state: NotificationState;
  readonly bodyHash: Buffer;
}

/** Leaves out keys that are not found. */
export const findByIdempotencyKeys = (sql: Sql, clientId: number, keys: readonly string[]) =>
  sql<KeyedNotification[]>`
    select k.key, n.id, n.state, k.body_hash as "bodyHash"
    from idempotency_keys k
    join notifications n on n.id = k.notification_id
    where k.client_id = ${clientId} and k.key = any(${textList(keys)}::text[])
      and k.created_at > now() - interval '24 hours'`;
