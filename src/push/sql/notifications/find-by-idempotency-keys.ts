/** Finds notifications by a client's idempotency keys of 24 hours, with hashes of their bodies. */

import { rowsOf, text } from '../../../database/rows.ts';
import type { Sql } from '../../../database/sql.ts';
import type { NotificationState } from '../../../domain/notification.ts';

/** An idempotency key (push/routes/idempotency-key.ts), and who asks with it. */
interface AskedKey {
  readonly key: string;
  readonly userName: string;
}

export interface KeyedNotification {
  readonly key: string;
  readonly id: string;
  readonly state: NotificationState;
  readonly bodyHash: Buffer;
}

/** Nodes of the version before wrote keys as they were sent: such a one is found after its own. */
export const findByIdempotencyKeys = (sql: Sql, clientId: number, keys: readonly AskedKey[]) =>
  sql<KeyedNotification[]>`
    select distinct on (a.key) a.key, n.id, n.state, k.body_hash as "bodyHash"
    from ${asked(sql, keys)}
    join idempotency_keys k
      on k.client_id = ${clientId} and k.key = any (array[a.key, split_part(a.key, chr(10), 2)])
    join notifications n on n.id = k.notification_id
    where k.created_at > now() - interval '24 hours' and (k.key = a.key or n.user_name = a.user_name)
    order by a.key, k.key <> a.key`;

const asked = rowsOf<AskedKey>('a', {
  key: text(({ key }) => key),
  user_name: text(({ userName }) => userName),
});
