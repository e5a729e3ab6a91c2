/** Notes devices that received a push after refusals, or in the environment not tried first. */

import { DEVICE_PLACE } from '../database/columns.ts';
import { rowsOf, text } from '../database/rows.ts';
import type { Sql, SqlPool } from '../database/sql.ts';
import { transact } from '../database/transact.ts';
import type { ApnsEnvironment } from '../domain/device.ts';
import type {
  DeviceGroupChange,
  DeviceGroupKey,
  DevicePlace,
} from '../domain/device-group-change.ts';
import { changesOf } from '../domain/device-group-change.ts';
import { raiseDeviceGroups } from '../tag-index/groups/raise-device-groups.ts';

interface NotedDelivery extends DevicePlace {
  /** Null: it stays as it is. */
  readonly environment: ApnsEnvironment | null;
}

/** Forgets refusals of the devices, and answers the changes. A row that stays is not written. */
export function noteDeliveries(
  sql: SqlPool,
  deliveries: readonly NotedDelivery[],
): Promise<readonly DeviceGroupChange[]> {
  return transact(sql, async (tx) => {
    const updated = await updateDelivered(tx, deliveries);
    const histories = updated.map((device) => ({
      ...device,
      history: { refusals: 0, environment: device.environment },
    }));
    return changesOf(await raiseDeviceGroups(tx, updated), { histories });
  });
}

/** Locks in the order of keys, as registrations do. */
const updateDelivered = (tx: Sql, deliveries: readonly NotedDelivery[]) => tx<
  (DevicePlace & DeviceGroupKey & { readonly environment: ApnsEnvironment | null })[]
>`
  with delivered as (
    select d.app_id, d.platform_id, d.ordinal, taken.environment
    from devices d
    join ${taken(tx, deliveries)}
      on d.app_id = taken.app_id and d.platform_id = taken.platform_id and d.ordinal = taken.ordinal
    where d.refusals > 0
      or (taken.environment is not null and taken.environment is distinct from d.apns_environment)
    order by d.app_id, d.platform_id, d.device_key
    for no key update of d
  )
  update devices d set
    refusals = 0, refused_at = null, apns_environment = coalesce(w.environment, d.apns_environment)
  from delivered w
  where d.app_id = w.app_id and d.platform_id = w.platform_id and d.ordinal = w.ordinal
  returning d.app_id as "appId", d.platform_id as "platformId", d.ordinal, d.ordinal / 8192 as "groupNumber",
    d.apns_environment as environment`;

const taken = rowsOf<NotedDelivery>('taken', {
  ...DEVICE_PLACE,
  environment: text(({ environment }) => environment),
});
