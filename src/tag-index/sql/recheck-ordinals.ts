/** Of some devices, those that still exist and still match: asked before a retry. */

import type { Audience } from '../../domain/notification.ts';
import type { Sql } from '../../store/sql.ts';
import { concernedTagIds, matches } from './matching.ts';
import type { MatchingDevice } from './resolve-group.ts';

export const recheckOrdinals = (
  sql: Sql,
  { appId, platformId }: { readonly appId: number; readonly platformId: number },
  ordinals: readonly number[],
  audience: Audience,
): Promise<readonly MatchingDevice[]> => sql<MatchingDevice[]>`
  select d.ordinal, d.device_id as "deviceId"
  from (
    select ordinal from subscriptions
    where app_id = ${appId} and platform_id = ${platformId}
      and ordinal = any(${[...ordinals]}::integer[])
      and tag_id = any(${concernedTagIds(audience)}::integer[])
    group by ordinal
    having ${matches(sql, audience)}
  ) matching
  join devices d
    on d.app_id = ${appId} and d.platform_id = ${platformId} and d.ordinal = matching.ordinal`;
