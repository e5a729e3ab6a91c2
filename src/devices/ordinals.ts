/** Ordinals for new devices: each writer has ranges of its own, so none waits for one counter. */

import type { SqlPool } from '../database/sql.ts';
import type { Scope } from '../domain/device.ts';
import { GROUP_DEVICES, scopeKeyOf } from '../domain/device.ts';
import type { DeviceLimit, ReservedRange } from './device-limit.ts';

/**
 * An app with few devices leaves so many unused at a restart, for each writer.
 * @limit ordinals that registration, or a lane of an import, reserves at once, doubling to the size
 * of a group → what is left at a restart stays a gap
 */
const RANGE_START = 128;

interface Stock {
  readonly ranges: ReservedRange[];
  /** Doubles with every range used up, to a whole group. */
  rangeSize: number;
}

/**
 * The stock of one writer. An ordinal is never given out twice: a failed transaction may have been
 * committed all the same.
 */
export class Ordinals {
  private readonly sql: SqlPool;
  private readonly limit: DeviceLimit;
  private readonly stocks = new Map<string, Stock>();

  constructor(sql: SqlPool, limit: DeviceLimit) {
    this.sql = sql;
    this.limit = limit;
  }

  /**
   * Makes sure that `take` has an ordinal for each device, unless an app is at its limit. Never
   * inside a transaction: the embedded database has one session.
   */
  async provideFor(devices: Iterable<Scope>): Promise<void> {
    const needs = new Map<string, { readonly scope: Scope; count: number }>();
    for (const scope of devices) {
      const key = scopeKeyOf(scope);
      const need = needs.get(key);
      if (need === undefined) needs.set(key, { scope, count: 1 });
      else need.count += 1;
    }
    for (const { scope, count } of needs.values()) await this.provide(scope, count);
  }

  private async provide(scope: Scope, count: number): Promise<void> {
    const stock = this.stockOf(scope);
    const missing = count - stock.ranges.reduce((sum, range) => sum + range.end - range.next, 0);
    if (missing <= 0) return;
    // A whole group begins at a group's boundary: no other writer raises its row of device_groups.
    const size = Math.max(stock.rangeSize, missing);
    const alignment = size === GROUP_DEVICES ? GROUP_DEVICES : 1;
    const range = await this.limit.reserve(this.sql, scope, { count: size, alignment }, missing);
    if (range === null) return;
    stock.ranges.push(range);
    const isWhole = range.end - range.next === size;
    if (isWhole) stock.rangeSize = Math.min(stock.rangeSize * 2, GROUP_DEVICES);
  }

  /** The next ordinal, or null: the app may have no more devices. */
  take(scope: Scope): number | null {
    const { ranges } = this.stockOf(scope);
    const [range] = ranges;
    if (range === undefined) return null;
    const ordinal = range.next;
    range.next += 1;
    if (range.next >= range.end) ranges.shift();
    return ordinal;
  }

  private stockOf(scope: Scope): Stock {
    const key = scopeKeyOf(scope);
    let stock = this.stocks.get(key);
    if (stock === undefined) {
      stock = { ranges: [], rangeSize: RANGE_START };
      this.stocks.set(key, stock);
    }
    return stock;
  }
}
