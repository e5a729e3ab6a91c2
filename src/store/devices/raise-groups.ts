/** Raises the versions of groups: whoever changes a device or a subscription does it in the same transaction. */

import type { Sql } from '../sql.ts';
import { list } from '../sql.ts';

export interface TouchedGroup {
  readonly appId: number;
  readonly platformId: number;
  readonly groupNumber: number;
}

/** A group with the version that a transaction gave it. */
export interface RaisedGroup extends TouchedGroup {
  readonly version: number;
}

/**
 * The last statement of a transaction, after devices, subscriptions and tag days: every writer takes its locks in that
 * order, and groups sorted, so that nodes do not deadlock. The rows are locked until the commit, so it should be near.
 */
export async function raiseGroups(tx: Sql, groups: readonly TouchedGroup[]): Promise<void> {
  if (groups.length === 0) return;
  await tx`
    insert into device_groups (app_id, platform_id, group_number, version)
    select distinct app_id, platform_id, group_number, 1
    from unnest(
      ${list(groups.map((group) => group.appId))}::int[],
      ${list(groups.map((group) => group.platformId))}::int[],
      ${list(groups.map((group) => group.groupNumber))}::int[]
    ) as touched (app_id, platform_id, group_number)
    order by 1, 2, 3
    on conflict (app_id, platform_id, group_number) do update set version = device_groups.version + 1`;
}
