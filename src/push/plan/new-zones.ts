/** Adds zones that devices have since a job was accepted to its waves. */

import { localMsOf } from '../../../packages/std/src/local-time.ts';
import { zonesOf } from '../../attributes/zones-of.ts';
import type { Sql } from '../../database/sql.ts';
import { textList } from '../../database/sql.ts';
import type { Moment } from '../../domain/waves.ts';
import { momentsOf, WAVES_MAX } from '../../domain/waves.ts';
import type { HeldJob } from '../sql/waves/plan-wave.ts';

interface Wave {
  readonly atMs: number;
  readonly zones: readonly string[];
  readonly isSkipped: boolean;
}

/**
 * The transaction holds the job. A zone whose time has passed gets none, unless a wave has it; one
 * whose time has passed since the last look gets it now.
 */
export async function addNewZones(
  tx: Sql,
  { id, clientId, sendAtLocal, nowMs, lookedAtMs }: HeldJob,
): Promise<void> {
  const waves = await tx<Wave[]>`
    select floor(extract(epoch from at) * 1000)::float8 as "atMs", zones, is_skipped as "isSkipped"
    from push_waves where notification_id = ${id}::uuid order by at`;
  const placed = new Set(waves.flatMap(({ zones }) => zones));
  const fresh = (await zonesOf(tx, clientId)).filter((zone) => !placed.has(zone));
  if (fresh.length === 0) return;
  let left = WAVES_MAX - waves.filter(({ isSkipped }) => !isSkipped).length;
  for (const moment of momentsOf(localMsOf(sendAtLocal) ?? 0, fresh, null)) {
    const isThere = waves.some(({ atMs }) => atMs === moment.atMs);
    if (!isThere && moment.atMs <= lookedAtMs) continue;
    if (!isThere) left -= 1;
    // Before now there may be a wave that is over.
    const wave = isThere ? moment : { ...moment, atMs: Math.max(moment.atMs, nowMs) };
    await addTo(tx, id, isThere || left >= 0 ? wave : nearestTo(wave, waves));
  }
}

/** The next one, so that no device gets it before the hour, or the last one. */
function nearestTo(moment: Moment, waves: readonly Wave[]): Moment {
  const wave = waves.find(({ atMs }) => atMs > moment.atMs) ?? waves.at(-1);
  return wave === undefined ? moment : { ...moment, atMs: wave.atMs };
}

const addTo = (tx: Sql, id: string, { atMs, zones }: Moment) => tx`
  insert into push_waves as w (notification_id, at, zones, has_others, is_skipped)
  values (${id}::uuid, to_timestamp(${atMs}::float8 / 1000), ${textList(zones)}::text[], false, false)
  on conflict (notification_id, at) do update set zones = w.zones || excluded.zones`;
