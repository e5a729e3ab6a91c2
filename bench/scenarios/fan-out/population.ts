/**
 * The devices of the fan-out bench: two million of one app, and the tags that some of them have.
 */

import { PLATFORMS } from '../../../packages/std/src/platforms.ts';
import type { SqlPool } from '../../../src/database/sql.ts';
import type { Lifetime } from '../../../test/support/lifetime.ts';
import type { Demo } from '../../../test/support/processes.ts';
import type { Grounds } from '../../grounds.ts';
import { prepareGrounds } from '../../grounds.ts';

export const DEVICES = 1_000_000;
export const DEVICES_MANY = 2_000_000;
/** A tag of few goes out among them as among the many. */
export const DEVICES_MOST = 10_000_000;
/** For code to become hot, and statements to be prepared. */
export const DEVICES_FIRST = 200_000;
/** Devices with the small tag: one in every tenth of the first million. */
export const DEVICES_FEW = 10;
export const FEW_APART = 99_991;

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
 * All devices, and more of the same app up to `DEVICES_MOST`: with the tag of the many, which no
 * measured send is to.
 */
export async function addDevices(grounds: FanOutGrounds): Promise<void> {
  const { sql, demo, tags } = grounds;
  for (let from = DEVICES_MANY; from < DEVICES_MOST; from += DEVICES) {
    await insertDevices(
      sql,
      demo.appId,
      ['a'.repeat(64)],
      [[tags.many, DEVICES_MOST, 1]],
      from,
      from + DEVICES,
    );
  }
  // Or the engine would fill the index while it is measured.
  await grounds.command(['index', 'rebuild']);
}

/**
 * The keys that devices are found by are made up, for the same tokens come again and again: what
 * nghttpd can answer at full speed is a thousand files. Sends never look at them.
 */
async function seed(
  sql: SqlPool,
  appId: number,
  deviceIds: readonly string[],
  tags: Tags,
): Promise<void> {
  const populations: readonly Population[] = [
    [tags.one, DEVICES, 1],
    [tags.many, DEVICES_MANY, 1],
    [tags.first, DEVICES_FIRST, 1],
    [tags.few, DEVICES_FEW, FEW_APART],
  ];
  await insertDevices(sql, appId, deviceIds, populations, 0, DEVICES_MANY);
}

/** A tag, how many devices have it, and how far apart these are. */
type Population = readonly [tagId: number, count: number, apart: number];

/** Ordinals from `start` up to but without `end`, which is where the next ones begin. */
async function insertDevices(
  sql: SqlPool,
  appId: number,
  deviceIds: readonly string[],
  populations: readonly Population[],
  start: number,
  end: number,
): Promise<void> {
  await sql`
    update app_platforms set next_ordinal = ${end}
    where app_id = ${appId} and platform_id = ${PLATFORMS.apns}`;
  await sql`
    insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at, tag_ids)
    select ${appId}, ${PLATFORMS.apns}, ordinal, md5(ordinal::text)::uuid,
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
    from generate_series(${start}::integer, ${end - 1}::integer) as ordinal`;
  await sql`
    insert into device_group_tags (app_id, platform_id, tag_id, group_number)
    select distinct app_id, platform_id, unnest(tag_ids), ordinal >> 13 from devices
    where app_id = ${appId} and platform_id = ${PLATFORMS.apns}
      and ordinal between ${start}::integer and ${end - 1}::integer
    on conflict do nothing`;
  await sql`
    insert into device_groups (app_id, platform_id, group_number, version)
    select ${appId}, ${PLATFORMS.apns}, g, 1
    from generate_series(${start}::integer >> 13, ${end - 1}::integer >> 13) as g
    on conflict do nothing`;
}
