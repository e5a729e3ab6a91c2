/** Lists where sends were stopped by a fault lately, by (app, platform), for the operator. */

import type { Sql } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';
import { firstUuidAt } from '../../domain/uuid-v7.ts';

export interface FailingSends extends Scope {
  readonly count: number;
  readonly lastId: string;
  /** When the last one was accepted; epoch milliseconds. */
  readonly lastAt: number;
}

/** Counts sends that were accepted at `sinceMs` or later, at most so many of the newest. */
export const listFailingSends = (sql: Sql, sinceMs: number, sendsMax: number) => sql<
  FailingSends[]
>`
  select s.app_id as "appId", s.platform_id as "platformId", count(*) as count,
    (array_agg(n.id order by n.id desc))[1] as "lastId",
    floor(extract(epoch from max(n.accepted_at)) * 1000)::float8 as "lastAt"
  from (
    select notification_id, app_id, platform_id from notification_scopes
    where fault is not null and notification_id >= ${firstUuidAt(sinceMs)}::uuid
    order by notification_id desc
    limit ${sendsMax}::integer
  ) s
  join notifications n on n.id = s.notification_id
  group by 1, 2`;
