/**
 * Devices' tags as rows, for tests that look at them, and what tests that write rows by hand have
 * to write beside them.
 */

import type { Sql } from '../../src/database/sql.ts';

/** For `from`: app_id, platform_id, ordinal, tag_id. */
export const subscriptions = (sql: Sql) => sql`
  (select app_id, platform_id, ordinal, unnest(tag_ids) as tag_id from devices) as s`;

/** Which groups may have which tags, for rows that were written by hand. */
export const writeGroupTags = (sql: Sql) => sql`
  insert into device_group_tags (app_id, platform_id, tag_id, group_number)
  select distinct app_id, platform_id, unnest(tag_ids), ordinal / 8192 from devices
  on conflict do nothing`;

/** The tags of a device; null: it is not registered. */
export const tagsOf = async (sql: Sql, deviceId: string): Promise<readonly number[] | null> => {
  const [row] = await sql<{ tagIds: readonly number[] }[]>`
    select tag_ids as "tagIds" from devices where device_id = ${deviceId}`;
  return row?.tagIds ?? null;
};
