/** Counts the devices that a push is for, and those of which its tests know nothing. */

import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import { compileFor } from '../../attributes/compile-for.ts';
import { withoutValue } from '../../attributes/without-value.ts';
import type { PatientReads } from '../../database/patient-reads.ts';
import type { Sql } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';
import type { Audience } from '../../domain/notification.ts';
import type { PushPolicy } from '../../domain/policies.ts';
import type { TagIndex } from '../../tag-index/tag-index.ts';
import type { FoundTargets } from './check.ts';
import { countWithheld } from './count-withheld.ts';

interface Counting {
  readonly patientReads: PatientReads;
  readonly tagIndex: TagIndex;
}

export interface CountedAudience {
  readonly audience: readonly (Scope<PlatformId> & { readonly count: number })[];
  /** A count was concluded from a sample. */
  readonly isApproximate: boolean;
  /**
   * Devices without a value, by the name of each attribute that is tested, of those that the tags
   * address. Absent: no attribute of devices is tested.
   */
  readonly withoutValue?: Readonly<Record<string, number>>;
  /** Devices of the audience that caps would leave out now. Absent: none. */
  readonly withheld?: number;
}

/** `groupsMax`: see TagIndex. `policy`: of the push. */
export function countAudience(
  { patientReads, tagIndex }: Counting,
  clientId: number,
  targets: FoundTargets,
  groupsMax?: number,
  policy?: PushPolicy,
) {
  return patientReads.run(clientId, async (sql): Promise<CountedAudience> => {
    let isApproximate = false;
    const countIn = async (scope: Scope, audience: Audience): Promise<number> => {
      const { count, isProjected } = await tagIndex.count(sql, scope, audience, groupsMax);
      isApproximate ||= isProjected;
      return count;
    };
    const audience: (Scope<PlatformId> & { readonly count: number })[] = [];
    const audienceIn = await compileFor(sql, clientId, targets.audience);
    for (const { appId, platformId } of targets.scopes) {
      const scope = { appId, platformId };
      audience.push({ ...scope, count: await countIn(scope, audienceIn(scope)) });
    }
    const without = await countWithoutValue(sql, clientId, targets, countIn);
    const caps = policy?.caps ?? null;
    const held = caps === null ? null : await countWithheld(sql, clientId, targets, caps);
    const devices = audience.reduce((sum, { count }) => sum + count, 0);
    const withheld = Math.min(held?.devices ?? 0, devices);
    return {
      audience,
      isApproximate: isApproximate || held?.isConcluded === true,
      ...(without === null ? {} : { withoutValue: without }),
      ...(withheld === 0 ? {} : { withheld }),
    };
  });
}

async function countWithoutValue(
  sql: Sql,
  clientId: number,
  { audience, scopes, tests }: FoundTargets,
  countIn: (scope: Scope, audience: Audience) => Promise<number>,
): Promise<Readonly<Record<string, number>> | null> {
  const tested = new Map(tests.map(({ name, asked }) => [name, asked]));
  const counts: Record<string, number> = {};
  for (const [name, { subject, type }] of tested) {
    // Each device has these.
    if (subject === 'app' || subject === 'platform') continue;
    const lacking = await withoutValue(sql, clientId, audience, { subject, type });
    counts[name] = 0;
    for (const scope of scopes) counts[name] += await countIn(scope, lacking);
  }
  return Object.keys(counts).length === 0 ? null : counts;
}
