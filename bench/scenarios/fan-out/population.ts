/** The devices of the fan-out bench: two million of one app, and the tags that some of them have. */

import { PLATFORM_APNS } from '../../../src/domain/device.ts';
import type { SqlPool } from '../../../src/store/sql.ts';
import type { Lifetime } from '../../../test/support/lifetime.ts';
import type { Demo } from '../../../test/support/processes.ts';
import type { Grounds } from '../../grounds.ts';
import { prepareGrounds } from '../../grounds.ts';

export const DEVICES = 1_000_000;
export const DEVICES_MANY = 2_000_000;
/** For code to become hot, and statements to be prepared. */
export const DEVICES_FIRST = 200_000;
/** Of the small tag: one in every tenth of the first million. */
export const DEVICES_FEW = 10;
const FEW_APART = 99_991;

/** Tags, by how many devices each has. */
interface Tags {
  readonly one: number;
  readonly many: number;
  readonly first: number;
  readonly few: number;
}

export interface FanOutGrounds extends Grounds {
  readonly tags: Tags;
}

/** `deviceIds`: tokens that the sinks know, given out in turn. */
export async function prepareFanOut(
  stage: Lifetime,
  deviceIds: readonly string[],
): Promise<FanOutGrounds | null> {
  const grounds = await prepareGrounds(stage, (sql, demo) =>
    seed(sql, demo.appId, deviceIds, tagsOf(demo)),
  );
  return grounds === null ? null : { ...grounds, tags: tagsOf(grounds.demo) };
}

function tagsOf({ tagIds: [one = 0, many = 0, first = 0, few = 0] }: Demo): Tags {
  return { one, many, first, few };
}

/**
 * The keys that devices are found by are made up, for the same tokens come again and again: what nghttpd can answer at full speed is a
 * thousand files. Sends never look at them.
 */
async function seed(
  sql: SqlPool,
  appId: number,
  deviceIds: readonly string[],
  tags: Tags,
): Promise<void> {
  const end = DEVICES_MANY - 1;
  const populations = [
    [tags.one, DEVICES, 1],
    [tags.many, DEVICES_MANY, 1],
    [tags.first, DEVICES_FIRST, 1],
    [tags.few, DEVICES_FEW, FEW_APART],
  ] as const;
  await sql`
    update app_platforms set next_ordinal = ${DEVICES_MANY}
    where app_id = ${appId} and platform_id = ${PLATFORM_APNS}`;
  await sql`
    insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at, tag_ids)
    select ${appId}, ${PLATFORM_APNS}, ordinal, md5(ordinal::text)::uuid,
      (${[...deviceIds]}::text[])[1 + ordinal % ${deviceIds.length}::integer], now() - interval '1 day',
      array(
        select tag_id
        from unnest(
          ${populations.map(([tagId]) => tagId)}::integer[],
          ${populations.map(([, count]) => count)}::integer[],
          ${populations.map(([, , apart]) => apart)}::integer[]
        ) as p (tag_id, count, apart)
        where ordinal % apart = 0 and ordinal / apart < count
        order by tag_id
      )
    from generate_series(0, ${end}::integer) as ordinal`;
  await sql`
    insert into device_group_tags (app_id, platform_id, tag_id, group_number)
    select distinct app_id, platform_id, unnest(tag_ids), ordinal >> 13 from devices`;
  await sql`
    insert into device_groups (app_id, platform_id, group_number, version)
    select ${appId}, ${PLATFORM_APNS}, g, 1 from generate_series(0, ${end}::integer >> 13) as g`;
}
