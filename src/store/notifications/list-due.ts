/** What the planner is about to plan: read without a lock, for whoever plans looks again. */

import type { PlatformOfApp } from '../../domain/device.ts';
import type { Audience } from '../../domain/notification.ts';
import type { Sql } from '../sql.ts';
import { list } from '../sql.ts';

/** One (app, platform) of a notification that is due, with who is meant. */
export interface DueScope extends Audience, PlatformOfApp {
  readonly notificationId: string;
}

/** The groups of an (app, platform) that have somebody or may have, with their versions. */
export interface ScopeGroups extends PlatformOfApp {
  readonly groups: readonly (readonly [groupNumber: number, version: number])[];
}

export interface Due {
  readonly notificationIds: readonly string[];
  readonly scopes: readonly DueScope[];
  /** Of these scopes, each (app, platform) once; without vacant ones, which are not planned in any case. */
  readonly groups: readonly ScopeGroups[];
}

/** The groups of these (app, platform)s. */
export async function listGroupsOfScopes(
  sql: Sql,
  scopes: readonly PlatformOfApp[],
): Promise<readonly ScopeGroups[]> {
  const [row] = await sql<Pick<Due, 'groups'>[]>`
    with scoped as (
      select * from unnest(
        ${list(scopes.map(({ appId }) => appId))}::integer[],
        ${list(scopes.map(({ platformId }) => platformId))}::smallint[]
      ) as s(app_id, platform_id)
    )
    select ${groupsOfScoped(sql)} as groups`;
  return row?.groups ?? [];
}

/** The next notifications that are due, at most `limit` of them, in one question: a small one waits for each. */
export async function listDue(sql: Sql, limit: number): Promise<Due> {
  const [row] = await sql<Due[]>`
    with due as (
      select id, any_tag_ids, all_tag_ids, none_tag_ids from notifications
      where finished_at is null and state in ('SCHEDULED', 'QUEUED') and send_at <= now()
      order by send_at
      limit ${limit}::integer
    ),
    scoped as (
      select d.*, s.app_id, s.platform_id
      from due d join notification_scopes s on s.notification_id = d.id
    )
    select
      coalesce((select json_agg(id) from due), '[]') as "notificationIds",
      coalesce((
        select json_agg(json_build_object(
          'notificationId', id, 'appId', app_id, 'platformId', platform_id,
          'anyTagIds', any_tag_ids, 'allTagIds', all_tag_ids, 'noneTagIds', none_tag_ids
        )) from scoped
      ), '[]') as scopes,
      ${groupsOfScoped(sql)} as groups`;
  return row ?? { notificationIds: [], scopes: [], groups: [] };
}

/** As JSON, for they are many: of the (app, platform)s that `scoped` names. */
const groupsOfScoped = (sql: Sql) => sql`
  coalesce((
    select json_agg(json_build_object('appId', app_id, 'platformId', platform_id, 'groups', groups))
    from (
      select app_id, platform_id, json_agg(json_build_array(g.group_number, g.version)) as groups
      from (select distinct app_id, platform_id from scoped) s
      join device_groups g using (app_id, platform_id)
      where g.vacant_version is distinct from g.version
      group by app_id, platform_id
    ) of_scopes
  ), '[]')`;
