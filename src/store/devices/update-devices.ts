/** Remembers that known devices registered or unsubscribed. */

import type { Sql } from '../sql.ts';
import { list } from '../sql.ts';

export interface DeviceUpdate {
  readonly appId: number;
  readonly platformId: number;
  readonly ordinal: number;
  readonly registers: boolean;
  readonly unsubscribes: boolean;
  /** Null keeps what is known. */
  readonly appVersion: string | null;
}

/** The devices are locked by the transaction. Flags travel as 0 and 1: the driver takes an array of booleans for one boolean. */
export async function updateDevices(tx: Sql, devices: readonly DeviceUpdate[]): Promise<void> {
  if (devices.length === 0) return;
  await tx`
    update devices d set
      registered_at = case when seen.registers = 1 then now() else d.registered_at end,
      -- A token that its app still has is no stranger.
      refusals = case when seen.registers = 1 then 0 else d.refusals end,
      refused_at = case when seen.registers = 1 then null else d.refused_at end,
      unsubscribed_at = case when seen.unsubscribes = 1 then now() else d.unsubscribed_at end,
      app_version = coalesce(seen.app_version, d.app_version)
    from unnest(
      ${list(devices.map((device) => device.appId))}::int[],
      ${list(devices.map((device) => device.platformId))}::int[],
      ${list(devices.map((device) => device.ordinal))}::int[],
      ${list(devices.map((device) => Number(device.registers)))}::int[],
      ${list(devices.map((device) => Number(device.unsubscribes)))}::int[],
      ${devices.map((device) => device.appVersion)}::text[]
    ) as seen (app_id, platform_id, ordinal, registers, unsubscribes, app_version)
    where d.app_id = seen.app_id and d.platform_id = seen.platform_id and d.ordinal = seen.ordinal`;
}
