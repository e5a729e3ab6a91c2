/** Reads all that is known of one device, for the answer to its owner; times in ms since 1970. */

import type { Sql } from '../../database/sql.ts';
import type { DeviceAttributes } from '../../domain/device-attributes.ts';
import { selectedAttributes } from './attribute-columns.ts';
import type { DeviceKey } from './find-devices.ts';
import type { KnownAttribute } from './known-attributes.ts';
import { knownAttributes } from './known-attributes.ts';

export interface DeviceDetails extends DeviceAttributes {
  readonly ordinal: number;
  readonly deviceId: string;
  /** The last registration may be a day later: it may not have been written (decision 42). */
  readonly registeredAt: number;
  /** Null: it has not unsubscribed since. */
  readonly unsubscribedAt: number | null;
  /** Sends that refused the token, since the last one that did not or the last registration. */
  readonly refusals: number;
  readonly refusedAt: number | null;
  /** Where its provider took the token, when that is not where it is asked first. */
  readonly environment: string | null;
  /** The day of its first registration; null: not known. */
  readonly firstRegisteredOn: string | null;
  readonly attributes: readonly KnownAttribute[];
  /** Those that are not deleted, by id. */
  readonly tags: readonly {
    readonly id: number;
    readonly name: string;
    readonly sourceId: string | null;
  }[];
}

export async function readDevice(
  sql: Sql,
  { appId, platformId, deviceKey }: DeviceKey,
): Promise<DeviceDetails | null> {
  const [device] = await sql<DeviceDetails[]>`
    select d.ordinal, d.device_id as "deviceId", ${selectedAttributes(sql)}, d.refusals,
      d.apns_environment as environment, d.registered_on::text as "firstRegisteredOn",
      floor(extract(epoch from d.registered_at) * 1000)::float8 as "registeredAt",
      floor(extract(epoch from d.unsubscribed_at) * 1000)::float8 as "unsubscribedAt",
      floor(extract(epoch from d.refused_at) * 1000)::float8 as "refusedAt",
      ${knownAttributes(sql)} as attributes,
      (
        select coalesce(json_agg(json_build_object('id', t.id, 'name', t.name, 'sourceId', t.source_id) order by t.id), '[]')
        from tags t where t.id = any (d.tag_ids) and t.deleted_at is null
      ) as tags
    from devices d
    where d.device_key = ${deviceKey}::uuid and d.app_id = ${appId} and d.platform_id = ${platformId}`;
  return device ?? null;
}

/** Work that a push job has still to do with a device, or with its token. */
export interface PendingOutcome {
  readonly notificationId: string;
  /** `retry`: it is sent again. `dead`, `refused`: what its provider said, not yet carried out. */
  readonly kind: 'retry' | 'dead' | 'refused';
  /** Why it is sent again. */
  readonly reason: string | null;
  readonly attempts: number | null;
  readonly dueAt: number | null;
  /** Many were called dead at once: an operator decides. */
  readonly held: true | null;
}

/** The newest jobs first, at most `limit`. The outcomes of single devices are not kept. */
export const listPendingOutcomes = (
  sql: Sql,
  clientId: number,
  place: { readonly appId: number; readonly platformId: number; readonly ordinal: number },
  limit: number,
): Promise<readonly PendingOutcome[]> => {
  const { appId, platformId, ordinal } = place;
  return sql<PendingOutcome[]>`
    select * from (
      select r.notification_id as "notificationId", 'retry' as kind, r.reason, r.attempts,
        case when r.parked_at is null then floor(extract(epoch from r.due_at) * 1000)::float8 end as "dueAt",
        null::boolean as held
      from notifications n
      join retries r on r.notification_id = n.id
        and r.app_id = ${appId} and r.platform_id = ${platformId} and r.ordinal = ${ordinal}
      where n.client_id = ${clientId} and n.finished_at is null
        and n.state in ('RUNNING', 'PAUSED', 'CANCELLED')
      union all
      select c.notification_id, case when c.is_refusal then 'refused' else 'dead' end, null, null, null,
        nullif(s.deletions = 'held', false)
      from notification_scopes s
      join notifications n on n.id = s.notification_id and n.client_id = ${clientId}
      join condemned_devices c on c.notification_id = s.notification_id
        and c.app_id = s.app_id and c.platform_id = s.platform_id and c.ordinal = ${ordinal}
      where s.deletions is not null and s.app_id = ${appId} and s.platform_id = ${platformId}
    ) as pending
    order by "notificationId" desc limit ${limit}`;
};
