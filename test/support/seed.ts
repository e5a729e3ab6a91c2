/**
 * Many devices at once, written as the engine itself would have: what a test has no time to
 * register one by one.
 */

import type { SqlPool } from '../../src/database/sql.ts';

export interface Seed {
  readonly appId: number;
  readonly platformId: number;
  readonly tagIds: readonly number[];
  readonly count: number;
  /** Absent: 64 hex digits each, distinct per app and platform. */
  readonly deviceIds?: readonly string[];
  /**
   * From one ordinal to the next (1): with GROUP_DEVICES each group has one device, and a send as
   * many chunks as devices.
   */
  readonly step?: number;
}

/** Makes `count` devices subscribed to all `tagIds`. */
export async function seedDevices(sql: SqlPool, seed: Seed): Promise<void> {
  const { appId, platformId, tagIds, deviceIds, step = 1 } = seed;
  const width = seed.count * step;
  await sql.begin(async (tx) => {
    const [mark] = await tx<{ start: number }[]>`
      update app_platforms set next_ordinal = next_ordinal + ${width}
      where app_id = ${appId} and platform_id = ${platformId}
      returning next_ordinal - ${width}::integer as start`;
    if (mark === undefined) throw new Error('no such app and platform');
    const end = mark.start + width - 1;
    await tx`
      insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at, tag_ids)
      select ${appId}, ${platformId}, ordinal,
        encode(substring(sha256(convert_to(token, 'UTF8')) from 1 for 16), 'hex')::uuid, token, now() - interval '3 days',
        ${[...tagIds].sort((a, b) => a - b)}::integer[]
      from generate_series(${mark.start}::integer, ${end}::integer, ${step}::integer) as ordinal,
        lateral (
          select coalesce(
            (${(deviceIds ?? []) as string[]}::text[])[(ordinal - ${mark.start}::integer) / ${step}::integer + 1],
            encode(sha256(convert_to(${`${appId}/${platformId}/`} || ordinal, 'UTF8')), 'hex')
          ) as token
        ) as tokens`;
    await tx`
      insert into device_group_tags (app_id, platform_id, tag_id, group_number)
      select distinct ${appId}::integer, ${platformId}::integer, tag_id, ordinal >> 13
      from unnest(${tagIds as number[]}::integer[]) as tag_id, generate_series(${mark.start}::integer, ${end}::integer, ${step}::integer) as ordinal
      on conflict do nothing`;
    await tx`
      insert into tag_days (tag_id, app_id, platform_id, day, slot, subscribed)
      select tag_id, ${appId}::integer, ${platformId}::integer, '-infinity', 0, ${seed.count}::integer
      -- 0: any tag.
      from unnest(${(tagIds.length === 0 ? [] : [0, ...tagIds]) as number[]}::integer[]) as tag_id
      on conflict (tag_id, app_id, platform_id, day, slot) do update set subscribed = tag_days.subscribed + excluded.subscribed`;
    await tx`
      insert into device_groups (app_id, platform_id, group_number, version)
      select ${appId}, ${platformId}, group_number, 1
      from generate_series(${mark.start}::integer >> 13, ${end}::integer >> 13) as group_number
      on conflict (app_id, platform_id, group_number) do update set version = device_groups.version + 1`;
  });
}
