/** Of some devices, those that still exist and still match: asked before a retry. (Why not a plain join: resolve-group.ts.) */

import type { ApnsEnvironment } from '../../domain/credential.ts';
import type { PlatformOfApp } from '../../domain/device.ts';
import type { Audience } from '../../domain/notification.ts';
import type { Sql } from '../../store/sql.ts';
import { concernedTagIds } from '../audience.ts';
import { matches } from './matching.ts';

export interface MatchingDevice {
  readonly ordinal: number;
  readonly deviceId: string;
  readonly refusals: number;
  readonly environment: ApnsEnvironment | null;
}

export const recheckOrdinals = (
  sql: Sql,
  { appId, platformId }: PlatformOfApp,
  ordinals: readonly number[],
  audience: Audience,
): Promise<readonly MatchingDevice[]> => sql<MatchingDevice[]>`
  select matching.ordinal, d.device_id as "deviceId", d.refusals,
    d.apns_environment as environment
  from (
    select ordinal from subscriptions
    where app_id = ${appId} and platform_id = ${platformId}
      and tag_id = any(${concernedTagIds(audience)}::integer[])
      and ordinal = any(${[...ordinals]}::integer[])
    group by ordinal
    having ${matches(sql, audience)}
  ) matching
  cross join lateral (
    select device_id, refusals, apns_environment from devices
    where app_id = ${appId} and platform_id = ${platformId} and ordinal = matching.ordinal
    limit 1
  ) d`;
