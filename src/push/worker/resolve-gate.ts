/**
 * Limits how many device groups a lot of small tasks holds at a time. In most groups few devices
 * have the tag: then the task frees its place as soon as the group is resolved. But many full
 * groups would fill the thread's memory with tokens, so the task of a full one keeps its place
 * until it ends.
 */

import type { PlatformOfApp } from '../../domain/device.ts';
import { BLOCK_DEVICES } from '../../domain/device.ts';
import type { Audience } from '../../domain/notification.ts';
import type { Sql } from '../../store/sql.ts';
import type {
  DeviceRun,
  PresentDevices,
  ResolveRequest,
  TagIndex,
} from '../../tag-index/tag-index.ts';

/**
 * Groups that are being resolved or whose many tokens are held. (A task that is no part of a lot
 * holds one.)
 */
const PLACES = 2;

export class ResolveGate {
  readonly tagIndex: TagIndex;
  private free = PLACES;
  private readonly waiting: (() => void)[] = [];

  constructor(tagIndex: TagIndex) {
    this.tagIndex = tagIndex;
  }

  /** The tag index for one task of the lot. */
  open(): Passage {
    return new Passage(this);
  }

  async enter(): Promise<void> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  leave(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free += 1;
    else next();
  }
}

/** The tag index as one task of a lot sees it: `resolve` waits for a place. */
export class Passage implements TagIndex {
  private readonly gate: ResolveGate;
  private isInside = false;

  constructor(gate: ResolveGate) {
    this.gate = gate;
  }

  async resolve(request: ResolveRequest): Promise<DeviceRun> {
    await this.gate.enter();
    this.isInside = true;
    const run = await this.gate.tagIndex.resolve(request);
    if (run.offsets.length <= BLOCK_DEVICES) this.close();
    return run;
  }

  recheck(
    scope: PlatformOfApp,
    ordinals: readonly number[],
    audience: Audience,
  ): Promise<PresentDevices> {
    return this.gate.tagIndex.recheck(scope, ordinals, audience);
  }

  count(sql: Sql, scope: PlatformOfApp, audience: Audience): Promise<number> {
    return this.gate.tagIndex.count(sql, scope, audience);
  }

  /** Frees the place: the task has ended, whether well or not. */
  close(): void {
    if (!this.isInside) return;
    this.isInside = false;
    this.gate.leave();
  }
}
