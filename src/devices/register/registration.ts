/** Registers devices: many in one transaction, and each is answered when it is durable. */

import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import { PLANS_ARE_KEPT } from '../../database/dedicated-connection.ts';
import type { Store } from '../../database/store.ts';
import { LANE_SLOTS_MAX } from '../../statistics/slots.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';
import { FailureLog } from '../../telemetry/failure-log.ts';
import { DeviceLimit } from '../device-limit.ts';
import type { Operation, RegistrationResult } from '../operation.ts';
import { Ordinals } from '../ordinals.ts';
import { FacetAttributes } from './facet-attributes.ts';
import { KnownDeviceGroupTags } from './known-device-group-tags.ts';
import { RecentChanges } from './recent-changes.ts';
import { Stages } from './stages.ts';

interface RegistrationOptions {
  readonly store: Pick<Store, 'sql' | 'openDedicatedConnection'>;
  readonly feed: IndexFeed;
  readonly log: Logger;
  readonly inFlightMax: number;
  readonly devicesPerAppMax: number;
  readonly tagsPerDeviceMax: number;
  readonly freshMs: number;
}

const UNAVAILABLE = Promise.resolve('unavailable' as const);
const OVERLOADED = Promise.resolve('overloaded' as const);

export class Registration {
  readonly stages: Stages;
  private readonly failureLog: FailureLog;
  private readonly inFlightMax: number;
  private inFlight = 0;
  private draining = false;

  constructor(options: RegistrationOptions) {
    const { feed, log, devicesPerAppMax, tagsPerDeviceMax, freshMs } = options;
    const { sql } = options.store;
    this.failureLog = new FailureLog(log);
    this.inFlightMax = options.inFlightMax;
    const limits = { tagsPerDeviceMax, freshMs };
    const facetAttributes = new FacetAttributes();
    const open = () => options.store.openDedicatedConnection(PLANS_ARE_KEPT);
    this.stages = new Stages({
      look: { ...limits, connection: open(), recentChanges: new RecentChanges(), facetAttributes },
      commit: {
        ...limits,
        connection: open(),
        feed,
        facetAttributes,
        ordinals: new Ordinals(sql, new DeviceLimit(devicesPerAppMax)),
        knownGroupTags: new KnownDeviceGroupTags(),
        slot: randomInt(LANE_SLOTS_MAX),
      },
      log: this.failureLog,
      onAnswered: (count) => {
        this.inFlight -= count;
      },
    });
  }

  /** Resolves when committed, or with why not. Operations on one device keep their order. */
  submit(operation: Operation): Promise<RegistrationResult> {
    if (this.draining) return UNAVAILABLE;
    if (this.inFlight >= this.inFlightMax) return OVERLOADED;
    this.inFlight += 1;
    return this.stages.submit(operation);
  }

  get depth(): number {
    return this.inFlight;
  }

  /** Takes no more operations, and resolves when all taken ones are answered. */
  async drain(): Promise<void> {
    this.draining = true;
    await this.stages.drain();
    this.failureLog.stop();
  }
}
