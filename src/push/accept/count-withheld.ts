/** Counts whom the caps of a push would leave out now. */

import { compileFor } from '../../attributes/compile-for.ts';
import type { Sql } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';
import { firstOrdinalOf, GROUP_DEVICES } from '../../domain/device.ts';
import type { Audience } from '../../domain/notification.ts';
import type { CapTerms } from '../../domain/policies.ts';
import { recheckOrdinals } from '../../tag-index/sql/recheck-ordinals.ts';
import { hasDevice } from '../sql/ledger/reach-words.ts';
import { agesOf, fullDevices, readPlaces } from '../sql/ledger/read-places.ts';
import type { FoundTargets } from './check.ts';

/**
 * Each reads the places of its jobs, and up to 8,192 devices.
 * @limit device groups of each (app, platform) in which an estimate looks who would be left out →
 * it concludes from them
 */
const LOOKED_AT_MAX = 16;
/** No job has it. */
const NO_JOB = '00000000-0000-0000-0000-000000000000';

export async function countWithheld(
  sql: Sql,
  clientId: number,
  { audience, scopes }: FoundTargets,
  caps: CapTerms,
): Promise<number> {
  if (caps.limits.length === 0) return 0;
  const audienceIn = await compileFor(sql, clientId, audience);
  let devices = 0;
  for (const { appId, platformId } of scopes) {
    const scope = { appId, platformId };
    const groups = await groupsWithPlaces(sql, scope);
    const every = Math.max(1, groups.length / LOOKED_AT_MAX);
    let found = 0;
    let looked = 0;
    for (let at = 0; at < groups.length; at += every) {
      const groupNumber = groups[Math.floor(at)] ?? 0;
      found += await withheldIn(sql, { ...scope, groupNumber }, audienceIn(scope), caps);
      looked += 1;
    }
    if (looked > 0) devices += Math.round((found * groups.length) / looked);
  }
  return devices;
}

/** Also those to which devices with places have moved. */
async function groupsWithPlaces(
  sql: Sql,
  { appId, platformId }: Scope,
): Promise<readonly number[]> {
  const rows = await sql<{ groupNumber: number }[]>`
    with placed as materialized (
      select distinct group_number from cap_places
      where app_id = ${appId} and platform_id = ${platformId}
    )
    select group_number as "groupNumber" from placed
    union
    select m.to_ordinal / ${GROUP_DEVICES}::integer from moved_ordinals m
    where m.app_id = ${appId} and m.platform_id = ${platformId}
      and m.from_ordinal / ${GROUP_DEVICES}::integer in (select group_number from placed)
    order by 1`;
  return rows.map(({ groupNumber }) => groupNumber);
}

async function withheldIn(
  sql: Sql,
  group: Scope & { readonly groupNumber: number },
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
