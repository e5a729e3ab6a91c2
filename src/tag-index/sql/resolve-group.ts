/** Finds the devices of a group that match an audience, in order; reads each row once. */

import type { Sql } from '../../database/sql.ts';
import type { ApnsEnvironment } from '../../domain/device.ts';
import { firstOrdinalOf } from '../../domain/device.ts';
import type { DeviceGroupKey } from '../../domain/device-group-change.ts';
import type { ResolveRequest } from '../tag-index.ts';
import { TOKEN_BYTES_MAX } from '../tag-index.ts';
import { isIn, isNotIn, languageIn, matches } from './matching.ts';

/** Parallel, in order of the ordinals; null: none matches, or too large together. */
interface MatchingGroup {
  /** The size of all tokens of matching devices. */
  readonly bytes: number;
  readonly ordinals: readonly number[] | null;
  readonly deviceIds: readonly string[] | null;
  readonly histories: readonly HistoryRow[] | null;
  /** The device's language, of those that were asked for. */
  readonly languages?: readonly number[] | null;
}

type Wanted = Pick<ResolveRequest, 'audience' | 'askedLanguages' | 'leftOut' | 'named'>;

/** A device with a history, as the database writes it. */
export type HistoryRow = readonly [
  ordinal: number,
  refusals: number,
  environment: ApnsEnvironment | null,
];

/**
 * From `start` up to but without `end`. One row of JSON: drivers would parse thousands. Lists that
 * are too large come back as their size alone.
 */
export async function resolveGroup(
  sql: Sql,
  { appId, platformId, groupNumber }: DeviceGroupKey,
  { start, end }: { readonly start: number; readonly end: number },
  { audience, askedLanguages = [], leftOut, named }: Wanted,
): Promise<MatchingGroup> {
  const asked = askedLanguages.length > 0;
  const fits = sql`lists.bytes <= ${TOKEN_BYTES_MAX}`;
  const [group] = await sql<MatchingGroup[]>`
    select bytes, case when ${fits} then ordinals end as ordinals,
      case when ${fits} then device_ids end as "deviceIds", case when ${fits} then histories end as histories
      ${asked ? sql`, case when ${fits} then languages end as languages` : sql``}
    from (
      select coalesce(sum(octet_length(device_id)), 0) as bytes, json_agg(ordinal) as ordinals,
        json_agg(device_id) as device_ids,
        json_agg(json_build_array(ordinal, refusals, apns_environment))
          filter (where refusals > 0 or apns_environment is not null) as histories
        ${asked ? sql`, json_agg(language) as languages` : sql``}
      from (
        select ordinal, device_id, refusals, apns_environment
          ${asked ? sql`, ${languageIn(sql, askedLanguages)} as language` : sql``}
        from devices
        where app_id = ${appId} and platform_id = ${platformId} and ordinal >= ${start} and ordinal < ${end}
          and ${matches(sql, audience)} ${isNotIn(sql, leftOut, firstOrdinalOf(groupNumber))}
          ${isIn(sql, named, firstOrdinalOf(groupNumber))}
        order by ordinal
      ) matching
    ) lists`;
  return group ?? { bytes: 0, ordinals: null, deviceIds: null, histories: null };
}
