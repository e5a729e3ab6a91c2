/** Reads one device as audiences see it, with what is kept of it, to explain who is in which. */

import type { Sql } from '../database/sql.ts';
import { entriesOf } from '../domain/device-numbers.ts';
import type { DeviceRow } from '../domain/row-tests.ts';
import type { DeviceRef } from './operation.ts';
import type { KnownAttribute } from './sql/known-attributes.ts';
import { knownAttributes } from './sql/known-attributes.ts';
import { DEVICE_EVENT_KINDS, listDeviceEvents } from './sql/list-events.ts';

export interface ExplainedDevice extends DeviceRow {
  readonly ordinal: number;
  /** The row may have tags that were deleted a moment ago. */
  readonly tagIds: readonly number[];
  readonly facetIds: readonly number[];
  readonly attributes: readonly KnownAttribute[];
  /** Epoch milliseconds; null: an import did not know it. */
  readonly registeredAt: number | null;
  /** Null: it has not unsubscribed since. */
  readonly unsubscribedAt: number | null;
}

/** Null: there is no such device. */
export async function readExplainedDevice(
  sql: Sql,
  { appId, platformId, deviceKey }: DeviceRef,
): Promise<ExplainedDevice | null> {
  type Row = Omit<ExplainedDevice, 'numbers'> & { readonly digits: string };
  const [row] = await sql<Row[]>`
    select d.ordinal, d.tag_ids as "tagIds", coalesce(d.facet_ids, '{}') as "facetIds",
      ${knownAttributes(sql)} as attributes, d.registered_on - date '1970-01-01' as registered,
      floor(extract(epoch from nullif(d.registered_at, to_timestamp(0))) / 86400)::integer as "lastSeen",
      coalesce(encode(d.numbers, 'hex'), '') as digits,
      floor(extract(epoch from nullif(d.registered_at, to_timestamp(0))) * 1000)::float8 as "registeredAt",
      floor(extract(epoch from d.unsubscribed_at) * 1000)::float8 as "unsubscribedAt"
    from devices d
    where d.device_key = ${deviceKey}::uuid and d.app_id = ${appId} and d.platform_id = ${platformId}`;
  if (row === undefined) return null;
  const { digits, ...device } = row;
  return { ...device, numbers: entriesOf(digits) };
}

/** The first three are noted when they happen. */
export const EXPLAINED_EVENT_KINDS = [...DEVICE_EVENT_KINDS, 'registered', 'unsubscribed'] as const;

export interface ExplainedEvent {
  readonly kind: (typeof EXPLAINED_EVENT_KINDS)[number];
  readonly at: number;
  readonly notificationId: string | null;
  readonly reason: string | null;
}

/** Whether a device of this token was removed, or its token was replaced, since this moment. */
export async function hasLeftSince(
  sql: Sql,
  { appId, platformId, deviceKey }: DeviceRef,
  sinceMs: number,
): Promise<boolean> {
  const [row] = await sql<{ hasLeft: boolean }[]>`
    select exists (
      select from device_events
      where device_key = ${deviceKey}::uuid and app_id = ${appId} and platform_id = ${platformId}
        and kind in ('removed', 'replaced') and at >= to_timestamp(${sinceMs}::float8 / 1000)
    ) as "hasLeft"`;
  return row?.hasLeft ?? false;
}

/** @limit events in the explanation of a device → the newest, those of the notification first */
const EXPLAINED_EVENTS_MAX = 20;

/**
 * Newest first. `ofNotification`: the events of this send are among them, however old they are.
 * Null: of no send in particular.
 */
export async function listExplainedEvents(
  sql: Sql,
  device: DeviceRef,
  known: ExplainedDevice | null,
  ofNotification: string | null,
): Promise<readonly ExplainedEvent[]> {
  const noted = await listDeviceEvents(sql, device, EXPLAINED_EVENTS_MAX, ofNotification);
  const facts = { notificationId: null, reason: null };
  const registered = known?.registeredAt ?? null;
  const unsubscribed = known?.unsubscribedAt ?? null;
  return [
    ...noted,
    ...(registered === null ? [] : [{ ...facts, kind: 'registered', at: registered } as const]),
    ...(unsubscribed === null
      ? []
      : [{ ...facts, kind: 'unsubscribed', at: unsubscribed } as const]),
  ].sort((one, other) => other.at - one.at);
}
