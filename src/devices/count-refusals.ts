/**
 * Counts refusals of the tokens of devices: at most one per interval, so that the count stands for
 * sends at different times.
 */

import { DEVICE_PLACE } from '../database/columns.ts';
import { float8, rowsOf } from '../database/rows.ts';
import type { Sql } from '../database/sql.ts';
import type { DeviceGroupKey, DeviceHistory, DevicePlace } from '../domain/device-group-change.ts';

interface RefusedDevice extends DevicePlace {
  /** A device that registered since has another token, or at least another chance. */
  readonly registeredBeforeMs: number;
}

/**
 * An operator mostly corrects a fault on this side within a day.
 * @limit time between two refusals that count → counted as one
 */
const REFUSAL_INTERVAL_MS = 86_400_000;

/**
 * Three different sends over at least two days, none of them accepted in between.
 * @limit refusals of a token → erased
 */
export const REFUSALS_MAX = 3;

/** Answers every device that was counted, with its refusals so far. Locks in the order of keys. */
export const countRefusals = (tx: Sql, devices: readonly RefusedDevice[]) => tx<
  (DevicePlace & DeviceGroupKey & DeviceHistory)[]
>`
  with refused as (
    select d.app_id, d.platform_id, d.ordinal
    from devices d
    join ${refused(tx, devices)}
      on d.app_id = r.app_id and d.platform_id = r.platform_id and d.ordinal = r.ordinal
    where d.registered_at < to_timestamp(r.registered_before_ms / 1000)
      and coalesce(d.refused_at <= now() - ${REFUSAL_INTERVAL_MS}::float8 * interval '1 millisecond', true)
    order by d.app_id, d.platform_id, d.device_key
    for no key update of d
  )
  update devices d set refusals = d.refusals + 1, refused_at = now()
  from refused w
  where d.app_id = w.app_id and d.platform_id = w.platform_id and d.ordinal = w.ordinal
  returning d.app_id as "appId", d.platform_id as "platformId", d.ordinal, d.ordinal / 8192 as "groupNumber",
    d.refusals, d.apns_environment as environment`;

const refused = rowsOf<RefusedDevice>('r', {
  ...DEVICE_PLACE,
  registered_before_ms: float8(({ registeredBeforeMs }) => registeredBeforeMs),
});
