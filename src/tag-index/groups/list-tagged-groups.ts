/**
 * Reads which groups may hold a device of an audience (device_group_tags), in order. An
 * intersection: a look for each group would be a table scan without statistics.
 */

import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';
import type { Audience } from '../../domain/notification.ts';

export async function listTaggedGroups(
  sql: Sql,
  { appId, platformId }: Scope,
  { anyTagIds, allTagIds, isToEverybody }: Audience,
): Promise<readonly number[]> {
  const ofTags = (tagIds: readonly number[]) => sql`
    select group_number from device_group_tags
    where app_id = ${appId} and platform_id = ${platformId} and tag_id = any(${list(tagIds)}::integer[])
    group by group_number`;
  const everyGroup = sql`
    select group_number from device_groups
    where app_id = ${appId} and platform_id = ${platformId} and vacant_version is distinct from version`;
  const having = sql`having count(*) = ${allTagIds.length}::integer`;
  const rows = await sql<{ groupNumber: number }[]>`
    select group_number as "groupNumber" from (
      ${isToEverybody === true ? everyGroup : ofTags(anyTagIds)}
      ${allTagIds.length === 0 ? sql`` : sql`intersect ${ofTags(allTagIds)} ${having}`}
    ) tagged
    order by group_number`;
  return rows.map(({ groupNumber }) => groupNumber);
}
