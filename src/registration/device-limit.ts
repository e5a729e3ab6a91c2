/**
 * Holds DEVICES_PER_APP_MAX: the App API's credential is public, so a stranger may register devices
 * without end.
 */

import type { Scope } from '../domain/device.ts';
import { scopeKeyOf } from '../domain/device.ts';
import { countDevices } from '../store/devices/count-devices.ts';
import { reserveOrdinals } from '../store/devices/reserve-ordinals.ts';
import type { Sql } from '../store/sql.ts';

/**
 * Least time between two counts of an app that is nearly full: counting many devices takes seconds.
 */
const RECOUNT_MS = 60_000;
/** The largest integer of PostgreSQL. */
export const ORDINAL_END_MAX = 2_147_483_647;

interface DeviceCount {
  free: number;
}

interface Count {
  readonly startedAtMs: number;
  readonly result: Promise<DeviceCount>;
}

/**
 * Shared by the lanes of a process. While the ordinals given out stay below the maximum, no count
 * is needed; beyond it, a count excludes gaps and erased devices. Other nodes and ranges in stock
 * may exceed it a little in between: it is a bound against abuse.
 */
export class DeviceLimit {
  readonly devicesMax: number;
  private readonly counts = new Map<string, Count>();

  constructor(devicesMax: number) {
    this.devicesMax = devicesMax;
  }

  /**
   * Reserves up to `wanted` ordinals beyond the mark, as many as the app may still have devices.
   */
  async reserveCounted(
    sql: Sql,
    scope: Scope,
    wanted: number,
  ): Promise<{ next: number; end: number } | null> {
    const count = await this.grant(sql, scope, wanted);
    if (count === 0) return null;
    const start = await reserveOrdinals(sql, scope, {
      count,
      alignment: 1,
      endMax: ORDINAL_END_MAX,
    });
    return start === null ? null : { next: start, end: start + count };
  }

  private async grant(sql: Sql, scope: Scope, wanted: number): Promise<number> {
    const count = await this.currentCount(sql, scope);
    const granted = Math.min(wanted, count.free);
    count.free -= granted;
    return granted;
  }

  /** One count at a time for all lanes. */
  private currentCount(sql: Sql, scope: Scope): Promise<DeviceCount> {
    const key = scopeKeyOf(scope);
    const known = this.counts.get(key);
    if (known !== undefined && performance.now() - known.startedAtMs < RECOUNT_MS) {
      return known.result;
    }
    const result = countDevices(sql, scope, this.devicesMax).then(
      (count) => ({ free: Math.max(0, this.devicesMax - count) }),
      (error: unknown) => {
        this.counts.delete(key);
        throw error;
      },
    );
    this.counts.set(key, { startedAtMs: performance.now(), result });
    return result;
  }
}
