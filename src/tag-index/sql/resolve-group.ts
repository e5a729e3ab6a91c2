/** The devices of one group that match an audience, in order of their ordinals: one scan of the concerned tags. */

import type { Audience } from '../../domain/notification.ts';
import type { Sql } from '../../store/sql.ts';
import type { GroupKey } from '../tag-index.ts';
import { concernedTagIds, matches } from './matching.ts';

export interface MatchingDevice {
  readonly ordinal: number;
  readonly deviceId: string;
}

/** Ordinals from `start` up to but without `end`. */
export const resolveGroup = (
  sql: Sql,
  { appId, platformId }: GroupKey,
  { start, end }: { readonly start: number; readonly end: number },
  audience: Audience,
): Promise<readonly MatchingDevice[]> => sql<MatchingDevice[]>`
  select d.ordinal, d.device_id as "deviceId"
  from (
    select ordinal from subscriptions
    where app_id = ${appId} and platform_id = ${platformId}
      and tag_id = any(${concernedTagIds(audience)}::integer[])
      and ordinal >= ${start} and ordinal < ${end}
    group by ordinal
    having ${matches(sql, audience)}
  ) matching
  join devices d
    on d.app_id = ${appId} and d.platform_id = ${platformId} and d.ordinal = matching.ordinal
  order by d.ordinal`;
