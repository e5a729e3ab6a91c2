/** How many devices match, now. Subscriptions go with their device in one transaction, so devices need no look. */

import type { PlatformOfApp } from '../../domain/device.ts';
import type { Audience } from '../../domain/notification.ts';
import type { Sql } from '../../store/sql.ts';
import { concernedTagIds } from '../audience.ts';
import { matches } from './matching.ts';

export async function countMatching(
  sql: Sql,
  { appId, platformId }: PlatformOfApp,
  audience: Audience,
): Promise<number> {
  const [row] = await sql<{ devices: number }[]>`
    select count(*) as devices
    from (
      select ordinal from subscriptions
      where app_id = ${appId} and platform_id = ${platformId}
        and tag_id = any(${concernedTagIds(audience)}::integer[])
      group by ordinal
      having ${matches(sql, audience)}
    ) matching`;
  return row?.devices ?? 0;
}
