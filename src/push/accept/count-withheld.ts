/** Counts whom the caps of a push would leave out now. */

import { compileFor } from '../../attributes/compile-for.ts';
import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';
import { firstOrdinalOf, GROUP_DEVICES } from '../../domain/device.ts';
import type { DeviceGroupKey } from '../../domain/device-group-change.ts';
import type { Audience } from '../../domain/notification.ts';
import type { CapTerms } from '../../domain/policies.ts';
import { recheckOrdinals } from '../../tag-index/sql/recheck-ordinals.ts';
import { hasDevice } from '../sql/ledger/reach-words.ts';
import { agesOf, fullDevices, readPlaces } from '../sql/ledger/read-places.ts';
import type { FoundTargets } from './check.ts';

/**
 * Each reads the places of its jobs, and up to 8,192 devices.
 * @limit device groups in which an estimate looks whom caps would leave out → it concludes from
 * them (`approximate`)
 */
const LOOKED_AT_MAX = 16;
/** No job has it. */
const NO_JOB = '00000000-0000-0000-0000-000000000000';

interface Withheld {
  readonly devices: number;
  /** It was concluded from some of the groups. */
  readonly isConcluded: boolean;
}

export async function countWithheld(
  sql: Sql,
  clientId: number,
  { audience, scopes }: FoundTargets,
  caps: CapTerms,
): Promise<Withheld> {
  if (caps.limits.length === 0) return { devices: 0, isConcluded: false };
  const audienceIn = await compileFor(sql, clientId, audience);
  const groups = await groupsWithPlaces(sql, scopes);
  const looked = Math.min(groups.length, LOOKED_AT_MAX);
  let found = 0;
  for (let at = 0; at < looked; at += 1) {
    const group = groups[Math.floor((at * groups.length) / looked)];
    if (group !== undefined) found += await withheldIn(sql, group, audienceIn(group), caps);
  }
  const isConcluded = looked < groups.length;
  return {
    devices: isConcluded ? Math.round((found * groups.length) / looked) : found,
    isConcluded,
  };
}

/** Also those to which devices with places have moved. */
async function groupsWithPlaces(
  sql: Sql,
  scopes: readonly Scope[],
): Promise<readonly DeviceGroupKey[]> {
  const rows = await sql<DeviceGroupKey[]>`
    with asked as (
      select * from unnest(
        ${list(scopes.map(({ appId }) => appId))}::integer[],
        ${list(scopes.map(({ platformId }) => platformId))}::smallint[]
      ) as a (app_id, platform_id)
    ),
    placed as materialized (
      select distinct app_id, platform_id, p.group_number
      from asked join cap_places p using (app_id, platform_id)
    )
    select app_id as "appId", platform_id as "platformId", group_number as "groupNumber" from placed
    union
    select app_id, platform_id, m.to_ordinal / ${GROUP_DEVICES}::integer
    from placed join moved_ordinals m using (app_id, platform_id)
    where m.from_ordinal / ${GROUP_DEVICES}::integer = placed.group_number
    order by 1, 2, 3`;
  return rows;
}

async function withheldIn(
  sql: Sql,
  group: DeviceGroupKey,
  audience: Audience,
  caps: CapTerms,
): Promise<number> {
  const places = await readPlaces(sql, group, { notificationId: NO_JOB, ...agesOf(caps) });
  const full = fullDevices(caps, places);
  const first = firstOrdinalOf(group.groupNumber);
  const ordinals: number[] = [];
  for (let offset = 0; offset < GROUP_DEVICES; offset += 1) {
    if (hasDevice(full, offset)) ordinals.push(first + offset);
  }
  if (ordinals.length === 0) return 0;
  return (await recheckOrdinals(sql, group, ordinals, audience, [])).length;
}
