/** Whether a cap has left a device out of a job, and which one. */

import type { Sql } from '../../database/sql.ts';
import { GROUP_DEVICES, groupNumberOf } from '../../domain/device.ts';
import type { DevicePlace } from '../../domain/device-group-change.ts';
import type { Cap } from '../../domain/policies.ts';
import { capOf } from '../../domain/policies.ts';
import { hasDevice } from '../sql/ledger/reach-words.ts';
import { readPlaces } from '../sql/ledger/read-places.ts';
import type { ExplainedJob } from '../sql/notifications/read-explained-job.ts';

export interface Withheld {
  readonly reason: 'frequencyCap';
  readonly category: string;
  /** Absent: its category has several, and it is not kept which one it was. */
  readonly cap?: Cap;
}

/** Null: none has, or it is not kept any more. */
export async function withheldBy(
  sql: Sql,
  { id, caps }: Pick<ExplainedJob, 'id' | 'caps'>,
  { appId, platformId, ordinal }: DevicePlace,
): Promise<Withheld | null> {
  if (caps === null) return null;
  const group = { appId, platformId, groupNumber: groupNumberOf(ordinal) };
  const places = await readPlaces(sql, group, { notificationId: id, maxAgeMs: 0, minAgeMs: 0 });
  const isLeftOut = places.some(({ withheld }) => hasDevice(withheld, ordinal % GROUP_DEVICES));
  if (!isLeftOut) return null;
  const { category, limits } = caps;
  const [limit, ...others] = limits;
  const isKnown = limit !== undefined && others.length === 0;
  return { reason: 'frequencyCap', category, ...(isKnown ? { cap: capOf(limit) } : {}) };
}
