/**
 * Limits how many device groups a batch of small tasks holds: in most few devices have the tag, but
 * many full ones would fill the thread's memory. A full one keeps its place until its task ends.
 */

import type { Sql } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';
import { BLOCK_DEVICES } from '../../domain/device.ts';
import type { Audience } from '../../domain/notification.ts';
import type { DeviceCount } from '../../tag-index/sample.ts';
import type {
  AskedLanguages,
  DeviceRun,
  PresentDevices,
  ResolveRequest,
  TagIndex,
} from '../../tag-index/tag-index.ts';

/**
 * A task that is in no batch holds one.
 * @limit groups of the small parts of a slot that are asked about, or are larger than a block and
 * held, at a time → they wait
 */
const PLACES = 2;

export class ResolveLimiter {
  readonly tagIndex: TagIndex;
  private free = PLACES;
  private readonly waiting: (() => void)[] = [];

  constructor(tagIndex: TagIndex) {
    this.tagIndex = tagIndex;
  }

  open(): LimitedTagIndex {
    return new LimitedTagIndex(this);
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

/** The tag index as one task of a batch sees it: `resolve` waits for its turn. */
class LimitedTagIndex implements TagIndex {
  private readonly limiter: ResolveLimiter;
  private isInside = false;

  constructor(limiter: ResolveLimiter) {
    this.limiter = limiter;
  }

  async resolve(request: ResolveRequest): Promise<DeviceRun> {
    await this.limiter.enter();
    this.isInside = true;
    const run = await this.limiter.tagIndex.resolve(request);
    if (run.offsets.length <= BLOCK_DEVICES) this.close();
    return run;
  }

  recheck(
    scope: Scope,
    ordinals: readonly number[],
    audience: Audience,
    askedLanguages?: AskedLanguages,
  ): Promise<PresentDevices> {
    return this.limiter.tagIndex.recheck(scope, ordinals, audience, askedLanguages);
  }

  count(sql: Sql, scope: Scope, audience: Audience, groupsMax?: number): Promise<DeviceCount> {
    return this.limiter.tagIndex.count(sql, scope, audience, groupsMax);
  }

  /** Frees the place: the task has ended, whether well or not. */
  close(): void {
    if (!this.isInside) return;
    this.isInside = false;
    this.limiter.leave();
  }
}
