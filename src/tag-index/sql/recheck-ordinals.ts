/** Finds those of some devices that still exist and still match, before a retry. */

import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type { ApnsEnvironment, Scope } from '../../domain/device.ts';
import type { Audience } from '../../domain/notification.ts';
import type { AskedLanguages } from '../tag-index.ts';
import { languageIn, matches } from './matching.ts';

interface MatchingDevice {
  readonly ordinal: number;
  readonly deviceId: string;
  readonly refusals: number;
  readonly environment: ApnsEnvironment | null;
  /** The device's language, of those that were asked for. */
  readonly language?: number;
}

export const recheckOrdinals = (
  sql: Sql,
  { appId, platformId }: Scope,
  ordinals: readonly number[],
  audience: Audience,
  askedLanguages: AskedLanguages,
): Promise<readonly MatchingDevice[]> => sql<MatchingDevice[]>`
  select ordinal, device_id as "deviceId", refusals, apns_environment as environment
    ${askedLanguages.length === 0 ? sql`` : sql`, ${languageIn(sql, askedLanguages)} as language`}
  from devices
  where app_id = ${appId} and platform_id = ${platformId} and ordinal = any(${list(ordinals)}::integer[])
    and ${matches(sql, audience)}`;
