/** What the planner is about to plan: read without a lock, for whoever plans looks again. */

import type { PlatformOfApp } from '../../domain/device.ts';
import type { RaisedGroup } from '../../domain/group-change.ts';
import type { Audience } from '../../domain/notification.ts';
import type { Sql } from '../sql.ts';

/** One (app, platform) of a notification that is due, with who is meant. */
export interface DueScope extends Audience {
  readonly notificationId: string;
  readonly appId: number;
  readonly platformId: number;
}

/** The scopes of the next notifications that are due, at most `limit` of these. */
export const listDue = (sql: Sql, limit: number) => sql<DueScope[]>`
  select n.id as "notificationId", s.app_id as "appId", s.platform_id as "platformId",
    n.any_tag_ids as "anyTagIds", n.all_tag_ids as "allTagIds", n.none_tag_ids as "noneTagIds"
  from (
    select id, any_tag_ids, all_tag_ids, none_tag_ids from notifications
    where finished_at is null and state in ('SCHEDULED', 'QUEUED') and send_at <= now()
    order by send_at
    limit ${limit}::integer
  ) n
  left join notification_scopes s on s.notification_id = n.id`;

/** The groups of these (app, platform)s, each of which is named once; without vacant ones, which are not planned in any case. */
export const listGroupsOfScopes = (sql: Sql, scopes: readonly PlatformOfApp[]) => sql<
  RaisedGroup[]
>`
  select g.app_id as "appId", g.platform_id as "platformId", g.group_number as "groupNumber", g.version
  from unnest(
    ${scopes.map(({ appId }) => appId)}::integer[], ${scopes.map(({ platformId }) => platformId)}::smallint[]
  ) as s(app_id, platform_id)
  join device_groups g using (app_id, platform_id)
  where g.vacant_version is distinct from g.version`;
