/**
 * The groups in which anybody has one of some tags: hops through the primary key from a tag's first subscription to the first one of
 * a later group, so that its cost is the groups found, not the subscriptions in them.
 */

import { GROUP_DEVICES } from '../../domain/device.ts';
import type { GroupKey, RaisedGroup } from '../../domain/group-change.ts';
import type { Sql } from '../../store/sql.ts';

/**
 * The order is the key's and the comparison a row's, so that no other index serves: hopping through `subscriptions_of_device` would
 * look at every subscription of every tag.
 */
export const occupiedGroups = (
  sql: Sql,
  tagIds: readonly number[],
  groups: readonly RaisedGroup[],
) => sql<GroupKey[]>`
  with recursive hop as (
    select s.app_id, s.platform_id, s.tag_id, s.ordinal
    from (
      select distinct app_id, platform_id from unnest(
        ${groups.map(({ appId }) => appId)}::integer[], ${groups.map(({ platformId }) => platformId)}::smallint[]
      ) as g(app_id, platform_id)
    ) w
    cross join unnest(${[...tagIds]}::integer[]) as t(tag_id)
    cross join lateral (
      select * from subscriptions
      where (app_id, platform_id, tag_id, ordinal) >= (w.app_id, w.platform_id, t.tag_id, 0)
      order by app_id, platform_id, tag_id, ordinal limit 1
    ) s
    where (s.app_id, s.platform_id, s.tag_id) = (w.app_id, w.platform_id, t.tag_id)
    union all
    select s.app_id, s.platform_id, s.tag_id, s.ordinal
    from hop h
    cross join lateral (
      select * from subscriptions
      where (app_id, platform_id, tag_id, ordinal) >= (
        h.app_id, h.platform_id, h.tag_id, (h.ordinal / ${GROUP_DEVICES}::integer + 1) * ${GROUP_DEVICES}::integer
      )
      order by app_id, platform_id, tag_id, ordinal limit 1
    ) s
    where (s.app_id, s.platform_id, s.tag_id) = (h.app_id, h.platform_id, h.tag_id)
  )
  select distinct app_id as "appId", platform_id as "platformId",
    ordinal / ${GROUP_DEVICES}::integer as "groupNumber"
  from hop`;
