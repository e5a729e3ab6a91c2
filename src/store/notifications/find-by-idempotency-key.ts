/** The notification that a key of the last 24 hours stands for, and the hash of the body that it came with. */

import type { NotificationState } from '../../domain/notification.ts';
import type { Sql } from '../sql.ts';

export interface KeyedNotification {
  readonly id: string;
  readonly state: NotificationState;
  readonly bodyHash: Buffer;
}

export async function findByIdempotencyKey(
  sql: Sql,
  clientId: number,
  key: string,
): Promise<KeyedNotification | null> {
  const [row] = await sql<KeyedNotification[]>`
    select n.id, n.state, k.body_hash as "bodyHash"
    from idempotency_keys k join notifications n on n.id = k.notification_id
    where k.client_id = ${clientId} and k.key = ${key} and k.created_at > now() - interval '24 hours'`;
  return row ?? null;
}
