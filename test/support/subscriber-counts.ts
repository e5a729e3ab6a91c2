/** How many devices have each tag, as the rows of devices say and as the counts by day say. */

import type { Sql } from '../../src/database/sql.ts';

/** Rows in which the two differ; tag 0: devices with any tag. */
export const wrongCounts = (sql: Sql) => sql`
  with truth as (
    select app_id, platform_id, tag_id, count(*) as devices
    from devices, unnest(tag_ids || case when tag_ids = '{}' then '{}'::integer[] else '{0}' end) as tag_id
    group by 1, 2, 3
  ),
  counted as (
    select app_id, platform_id, tag_id, sum(subscribed - unsubscribed) as devices
    from tag_days group by 1, 2, 3
  )
  select app_id, platform_id, tag_id, t.devices, c.devices as counted
  from truth t full join counted c using (app_id, platform_id, tag_id)
  where coalesce(t.devices, 0) <> coalesce(c.devices, 0)`;

/** Tags of devices whose group is not known to have them: a push would miss these devices. */
export const missingGroupTags = (sql: Sql) => sql`
  select distinct d.app_id, d.platform_id, tag_id, d.ordinal / 8192 as group_number
  from devices d, unnest(d.tag_ids) as tag_id
  where not exists (
    select from device_group_tags g
    where g.app_id = d.app_id and g.platform_id = d.platform_id and g.tag_id = tag_id
      and g.group_number = d.ordinal / 8192
  )`;
