/**
 * The notifications that keys of the last 24 hours stand for, and the hashes of the bodies that
 * they came with.
 */

import type { NotificationState } from '../../domain/notification.ts';
import type { Sql } from '../sql.ts';
import { list, textList } from '../sql.ts';

/** Of a client. */
export interface IdempotencyKey {
  readonly clientId: number;
  readonly key: string;
}

export interface KeyedNotification extends IdempotencyKey {
  readonly id: string;
  readonly state: NotificationState;
  readonly bodyHash: Buffer;
}

/** Those that are there. */
export const findByIdempotencyKeys = (sql: Sql, keys: readonly IdempotencyKey[]) =>
  sql<KeyedNotification[]>`
    select k.client_id as "clientId", k.key, n.id, n.state, k.body_hash as "bodyHash"
    from unnest(
      ${list(keys.map(({ clientId }) => clientId))}::integer[], ${textList(keys.map(({ key }) => key))}::text[]
    ) as w(client_id, key)
    join idempotency_keys k using (client_id, key)
    join notifications n on n.id = k.notification_id
    where k.created_at > now() - interval '24 hours'`;
