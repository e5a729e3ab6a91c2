/**
 * Holds DEVICES_PER_APP_MAX, and the limit of devices that a client has: the App API's credential
 * is public, so a stranger may register devices without end.
 */

import { CappedMap } from '../../packages/std/src/capped-map.ts';
import type { Sql, SqlPool } from '../database/sql.ts';
import { transact } from '../database/transact.ts';
import { limitOf } from '../domain/client-limits.ts';
import type { Scope } from '../domain/device.ts';
import { scopeKeyOf } from '../domain/device.ts';
import { countClientDevices, readClientDevices } from './sql/client-devices.ts';
import { countDevices } from './sql/count-devices.ts';
import type { OrdinalRange } from './sql/reserve-ordinals.ts';
import { reserveOrdinals } from './sql/reserve-ordinals.ts';

/**
 * Counting many devices takes seconds.
 * @limit least time between two counts of the devices of an app or client that is nearly full → the
 * last count holds, so devices of that time may exceed the limit
 */
const RECOUNT_MS = 60_000;
/**
 * One count: some hundred million devices.
 * @limit one count of the devices of an app or client → the last count holds; without one, new
 * devices of the client fail
 */
const COUNT_MS_MAX = 60_000;
/**
 * About 300 bytes each; a tenth of it is more than an installation has.
 * @limit apps and clients at their limit whose count of devices is remembered → counted again
 */
const COUNTS_MAX = 10_000;
/**
 * The largest integer of PostgreSQL.
 * @limit ordinals of an app on a platform, gaps included → new devices: `429`, `Retry-After: 60`
 */
export const ORDINAL_END_MAX = 2_147_483_647;

interface Room {
  free: number;
}

const ENDLESS: Room = { free: Number.POSITIVE_INFINITY };

interface Count {
  readonly room: Promise<Room>;
  /** Infinity: it is counted again now. */
  recountAtMs: number;
}

/** A range of ordinals for new devices; `next` is the first that is not used yet. */
export interface ReservedRange {
  next: number;
  readonly end: number;
}

/**
 * Shared by the writers of a process. No count is needed while the ordinals given out stay below
 * the maximum. Other nodes and ranges in stock may exceed it a little: a bound against abuse.
 */
export class DeviceLimit {
  readonly devicesMax: number;
  private readonly recountMs: number;
  private readonly counts: CappedMap<string, Count>;

  constructor(devicesMax: number, recountMs = RECOUNT_MS, countsMax = COUNTS_MAX) {
    this.devicesMax = devicesMax;
    this.recountMs = recountMs;
    this.counts = new CappedMap({ sizeMax: countsMax });
  }

  /**
   * Reserves a range as asked while neither the app nor its client is near its limit; else up to
   * `needed` ordinals, as many as they may still have devices. Null: none.
   */
  async reserve(
    sql: SqlPool,
    scope: Scope,
    range: Pick<OrdinalRange, 'count' | 'alignment'>,
    needed: number,
  ): Promise<ReservedRange | null> {
    const ofClient = await this.roomOfClient(sql, scope, range.count);
    const granted = Math.min(needed, ofClient.free);
    if (granted <= 0) return null;
    const asked = ofClient.free >= range.count ? range : { count: granted, alignment: 1 };
    return takeFrom(ofClient, asked.count, async () => {
      const start = await reserveOrdinals(sql, scope, { ...asked, endMax: this.devicesMax });
      return start === null
        ? this.reserveCounted(sql, scope, granted)
        : { next: start, end: start + asked.count };
    });
  }

  /** Reserves up to `wanted` ordinals, as many as the app may still have devices. */
  async reserveCounted(sql: SqlPool, scope: Scope, wanted: number): Promise<ReservedRange | null> {
    const ofApp = await this.roomOf(`app ${scopeKeyOf(scope)}`, this.devicesMax, () =>
      counted(sql, (tx) => countDevices(tx, scope, this.devicesMax)),
    );
    const count = Math.min(wanted, ofApp.free);
    if (count <= 0) return null;
    return takeFrom(ofApp, count, async () => {
      const range = { count, alignment: 1, endMax: ORDINAL_END_MAX };
      const start = await reserveOrdinals(sql, scope, range);
      return start === null ? null : { next: start, end: start + count };
    });
  }

  private async roomOfClient(sql: SqlPool, { appId }: Scope, wanted: number): Promise<Room> {
    const client = await readClientDevices(sql, appId);
    if (client === null) return ENDLESS;
    const { clientId, ordinals } = client;
    const max = limitOf(client.limits, 'devices');
    if (ordinals + wanted <= max) return ENDLESS;
    return this.roomOf(`client ${clientId}`, max, () =>
      counted(sql, (tx) => countClientDevices(tx, clientId, max)),
    );
  }

  /** One count at a time; only the first is waited for: a batch has devices of other clients. */
  private roomOf(name: string, max: number, count: () => Promise<number>): Promise<Room> {
    const key = `${name} ${max}`;
    const known = this.counts.get(key);
    if (known !== undefined) {
      if (performance.now() >= known.recountAtMs) void this.recount(known, max, count);
      return known.room;
    }
    const room = count().then(
      (devices) => ({ free: Math.max(0, max - devices) }),
      (error: unknown) => {
        this.counts.delete(key);
        throw error;
      },
    );
    this.counts.set(key, { room, recountAtMs: performance.now() + this.recountMs });
    return room;
  }

  private async recount(known: Count, max: number, count: () => Promise<number>): Promise<void> {
    known.recountAtMs = Number.POSITIVE_INFINITY;
    try {
      const room = await known.room;
      const { free } = room;
      const devices = await count();
      // The count has not seen what was taken meanwhile.
      room.free += Math.max(0, max - devices) - free;
    } catch {
      // The old count holds until the next one; statements that need the database report the fault.
    }
    known.recountAtMs = performance.now() + this.recountMs;
  }
}

const counted = (sql: SqlPool, count: (tx: Sql) => Promise<number>): Promise<number> =>
  transact(sql, async (tx) => {
    await tx`select set_config('statement_timeout', ${String(COUNT_MS_MAX)}, true)`;
    return count(tx);
  });

/**
 * Takes `count` from a room before it waits, since all writers share it; what was not reserved goes
 * back.
 */
async function takeFrom(
  room: Room,
  count: number,
  reserve: () => Promise<ReservedRange | null>,
): Promise<ReservedRange | null> {
  room.free -= count;
  let reserved: ReservedRange | null = null;
  try {
    reserved = await reserve();
  } finally {
    room.free += count - (reserved === null ? 0 : reserved.end - reserved.next);
  }
  return reserved;
}
