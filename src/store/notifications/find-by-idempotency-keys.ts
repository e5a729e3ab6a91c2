/**
 * The notifications that a client's keys of the last 24 hours stand for, and the hashes of the
 * bodies that they came with.
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

/** Those that are there. */
export const findByIdempotencyKeys = (sql: Sql, clientId: number, keys: readonly string[]) =>
  sql<KeyedNotification[]>`
    select k.key, n.id, n.state, k.body_hash as "bodyHash"
    from idempotency_keys k
    join notifications n on n.id = k.notification_id
    where k.client_id = ${clientId} and k.key = any(${textList(keys)}::text[])
      and k.created_at > now() - interval '24 hours'`;
