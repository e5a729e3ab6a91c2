/**
 * Lists deleted and disconnected tags of a client, each until the last device there has lost it.
 */

import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';

export interface Removal {
  readonly tagId: number;
  readonly name: string;
  /** Null: it was disconnected from these apps. */
  readonly deletedAtMs: number | null;
  /** Where some device may have it; how many have it still. */
  readonly left: readonly (Scope & { readonly devices: number })[];
}

export const listRemovals = (
  sql: Sql,
  clientId: number,
  { afterId, limit }: { readonly afterId: number; readonly limit: number },
): Promise<readonly Removal[]> =>
  sql<Removal[]>`
    select t.id as "tagId", t.name,
      floor(extract(epoch from t.deleted_at) * 1000)::float8 as "deletedAtMs", places.with_devices as "left"
    from tags t
    cross join lateral (
      select json_agg(json_build_object('appId', p.app_id, 'platformId', p.platform_id, 'devices', (
          select greatest(0, coalesce(sum(d.subscribed - d.unsubscribed), 0))::float8 from tag_days d
          where d.tag_id = t.id and d.app_id = p.app_id and d.platform_id = p.platform_id
        )) order by p.app_id, p.platform_id) as with_devices
      from apps a join app_platforms p on p.app_id = a.id
      where a.client_id = t.client_id and (t.deleted_at is not null or not a.id = any (t.app_ids))
        and exists (
          select from device_group_tags g
          where g.app_id = p.app_id and g.platform_id = p.platform_id and g.tag_id = t.id
        )
    ) as places
    where t.client_id = ${clientId} and t.id > ${afterId}
      and (t.deleted_at is not null or t.app_ids is not null) and places.with_devices is not null
    order by t.id limit ${limit}`;

/** One tag that devices of an app may have still. */
export interface Leaving {
  readonly tagId: number;
  readonly appId: number;
}

/** The first one of these tags in these apps of the client (null: all, `but` some). Null: none. */
export async function findLeaving(
  sql: Sql,
  clientId: number,
  {
    tagIds,
    appIds,
    but,
  }: {
    readonly tagIds: readonly number[];
    readonly appIds: readonly number[] | null;
    readonly but: readonly number[];
  },
): Promise<Leaving | null> {
  const [row] = await sql<Leaving[]>`
    select g.tag_id as "tagId", g.app_id as "appId"
    from apps a
    join app_platforms p on p.app_id = a.id
    cross join unnest(${list(tagIds)}::integer[]) as t (id)
    cross join lateral (
      select app_id, tag_id from device_group_tags
      where app_id = p.app_id and platform_id = p.platform_id and tag_id = t.id limit 1
    ) g
    where a.client_id = ${clientId} and not a.id = any (${list(but)}::integer[])
      ${appIds === null ? sql`` : sql`and a.id = any (${list(appIds)}::integer[])`}
    limit 1`;
  return row ?? null;
}
