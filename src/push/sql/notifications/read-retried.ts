/** A job that is to be retried: all that its retry takes over (decision 75). */

import type { Sql } from '../../../database/sql.ts';
import type { Scope } from '../../../domain/device.ts';
import type {
  Correction,
  NotificationState,
  TemplatedPayload,
} from '../../../domain/notification.ts';
import type { NotificationTerms } from './terms.ts';
import { selectedOptions, storedAudience } from './terms.ts';

export interface RetriedNotification extends NotificationTerms {
  readonly id: string;
  /** The job that was sent first: itself, or the one that it retries. */
  readonly first: string;
  /** Its own deed. Null: it is no correction. */
  readonly correction: Correction | null;
  readonly userName: string;
  /** Caps leave no device out of it. */
  readonly ignoresCaps: boolean;
  readonly state: NotificationState;
  readonly templated: TemplatedPayload | null;
  readonly expression: string | null;
  /** Null: it has no end. */
  readonly expiresAtMs: number | null;
  /** Those in which a fault has stopped it, or devices have failed. */
  readonly failedScopes: readonly Scope[];
}

/** Null: the client has no such job. */
export async function readRetried(
  sql: Sql,
  clientId: number,
  notificationId: string,
): Promise<RetriedNotification | null> {
  const [row] = await sql<RetriedNotification[]>`
    select n.id, coalesce(n.retries, n.id) as first, n.correction, n.user_name as "userName",
      coalesce(n.caps -> 'areIgnored' = 'true', false) as "ignoresCaps", n.state, n.payload,
      n.templated, ${selectedOptions(sql)}, ${storedAudience(sql)} as audience,
      n.audience_expression as expression,
      floor(extract(epoch from n.expires_at) * 1000)::float8 as "expiresAtMs",
      coalesce((
        select json_agg(json_build_object('appId', s.app_id, 'platformId', s.platform_id))
        from notification_scopes s
        where s.notification_id = n.id and (s.fault is not null or s.failed > 0)
      ), '[]') as "failedScopes"
    from notifications n
    where n.id = ${notificationId}::uuid and n.client_id = ${clientId}`;
  return row ?? null;
}
