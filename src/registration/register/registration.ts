/** Registers devices: many in one transaction, and each is answered when it is durable. */

import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import { PLANS_ARE_KEPT } from '../../store/dedicated-connection.ts';
import type { Store } from '../../store/store.ts';
import { LANE_SLOTS_MAX } from '../../store/tag-days/slots.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';
import { FailureLog } from '../../telemetry/failure-log.ts';
import { DeviceLimit } from '../device-limit.ts';
import { Lanes } from '../lanes.ts';
import type { Operation, RegistrationResult } from '../operation.ts';
import { Ordinals } from '../ordinals.ts';
import { KnownDeviceGroupTags } from './known-device-group-tags.ts';
import type { LaneResult } from './lane.ts';
import { BatchMeter, createLane } from './lane.ts';
import { RecentChanges } from './recent-changes.ts';

export interface RegistrationOptions {
  readonly store: Pick<Store, 'sql' | 'openDedicatedConnection'>;
  readonly feed: IndexFeed;
  readonly log: Logger;
  /** Batches at work at a time: LANES, or 1 on the embedded database, which is one session. */
  readonly lanes: number;
  readonly inFlightMax: number;
  readonly devicesPerAppMax: number;
  readonly tagsPerDeviceMax: number;
  /** A registration that repeats one written within this time is not written. */
  readonly freshMs: number;
}

/**
 * While one lane waits for its commit, the other one works. More lanes make smaller batches: a
 * batch costs 20 to 40 times as much as a registration in it, and two lanes of 1,000 a batch are
 * faster than one thread can read requests.
 */
export const LANES = 2;
export const LANES_EMBEDDED = 1;

const UNAVAILABLE = Promise.resolve('unavailable' as const);
const OVERLOADED = Promise.resolve('overloaded' as const);

export class Registration {
  /** For the metrics. */
  readonly batches = new BatchMeter();
  private readonly lanes: Lanes<Operation, LaneResult>;
  private readonly failureLog: FailureLog;
  private readonly inFlightMax: number;
  private inFlight = 0;
  private draining = false;

  constructor(options: RegistrationOptions) {
    const { feed, log, devicesPerAppMax, tagsPerDeviceMax, freshMs } = options;
    const { sql } = options.store;
    const limit = new DeviceLimit(devicesPerAppMax);
    this.failureLog = new FailureLog(log);
    this.inFlightMax = options.inFlightMax;
    const firstSlot = randomInt(LANE_SLOTS_MAX);
    this.lanes = new Lanes(options.lanes, (lane) => {
      const connection = options.store.openDedicatedConnection(PLANS_ARE_KEPT);
      const ordinals = new Ordinals(sql, limit);
      const knownGroupTags = new KnownDeviceGroupTags();
      const context = {
        connection,
        feed,
        ordinals,
        knownGroupTags,
        tagsPerDeviceMax,
        freshMs,
        recentChanges: new RecentChanges(),
        slot: (firstSlot + lane) % LANE_SLOTS_MAX,
      };
      const answered = (count: number): void => {
        this.inFlight -= count;
      };
      return createLane(context, this.failureLog, answered, this.batches);
    });
  }

  /**
   * Resolves when the operation is committed, or with why it is not. Operations on one device keep
   * their order.
   */
  submit(operation: Operation): Promise<RegistrationResult> {
    if (this.draining) return UNAVAILABLE;
    if (this.inFlight >= this.inFlightMax) return OVERLOADED;
    this.inFlight += 1;
    return this.lanes.submit(operation);
  }

  /** Operations taken and not yet answered. */
  get depth(): number {
    return this.inFlight;
  }

  /** Takes no more operations, and resolves when all taken ones are answered. */
  async drain(): Promise<void> {
    this.draining = true;
    await this.lanes.drain();
    this.failureLog.stop();
  }
}
