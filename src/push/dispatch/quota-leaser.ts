/**
 * Gives permits of a provider's quota to this node's tasks. The quota is one bucket for all nodes,
 * in the database (push/sql/draw-permits.ts): a node draws for a quarter of a second at most, and
 * keeps none that another could use.
 */

import type { Logger } from 'pino';
import type { Sql } from '../../database/sql.ts';
import type { ProviderOrigins } from '../../providers/origins.ts';
import type { Quota } from '../../providers/provider.ts';
import type { ProviderCredential } from '../../providers/providers.ts';
import { providerOf } from '../../providers/providers.ts';
import type { Clock } from '../../std/clock.ts';
import type { QuotaAnswer, QuotaMessage } from '../protocol/permits.ts';
import type { Bucket } from '../sql/draw-permits.ts';
import { drawPermits, pauseQuota, returnPermits } from '../sql/draw-permits.ts';

/**
 * The burst and 60 s of the full rate make the quota, so that no 60 s exceed it.
 * @limit bursts in a minute's quota of messages: one is given at once → sends wait
 */
const BURSTS_PER_MINUTE = 60;
/**
 * A provider with a quota asks for a slow start: from 0 to the highest rate in 60 s or more.
 * @limit time in which the rate rises to all of the quota
 */
const RAMP_MS = 60_000;
/**
 * 1,000/s of a quota of 600,000 a minute, besides the burst.
 * @limit share of a quota's rate at which its sends start → sends wait
 */
const RAMP_START = 0.1;
/** @limit draws of permits in a minute */
const DRAWS_PER_MINUTE = 240;
/** The least share of a full draw, even if tasks want less: small tasks come in large numbers. */
const DRAWN_SHARE_MIN = 0.125;
/**
 * Permits are valid for so long: after it a pause that another node heard of counts here too.
 * @limit a permit is good for → worth nothing
 */
const VALID_MS = 1_000;
/** @limit a permit is kept unused by a node → returned */
const IDLE_MS = 250;
/**
 * Without it each draw would bring the one permit that has come meanwhile.
 * @limit pause after a draw that did not give all
 */
const SCARCE_MS = 50;
/** The pause between draws while the database is down. */
const OUTAGE_MS = 1_000;
/** @limit a task waits for its first permit → its chunk is given back for as long */
const PATIENCE_MS = 2_000;

interface QuotaLeaserOptions {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Logger;
  readonly origins: ProviderOrigins;
}

export interface QuotaMember {
  hear(message: QuotaMessage): void;
  /** The task has ended, whether well or not. */
  leave(): void;
}

export class QuotaLeaser {
  private readonly options: QuotaLeaserOptions;
  private readonly counters = new Map<string, Counter>();

  constructor(options: QuotaLeaserOptions) {
    this.options = options;
  }

  /** Adds a task that sends with this credential. Null: no quota limits it. */
  join(credential: ProviderCredential, answer: (answer: QuotaAnswer) => void): QuotaMember | null {
    const quota = providerOf(credential).quota(credential, this.options.origins);
    if (quota === null) return null;
    const { key } = quota;
    const known = this.counters.get(key);
    if (known !== undefined) return known.join(answer);
    const counter: Counter = new Counter(quota, this.options, () => {
      if (this.counters.get(key) === counter) this.counters.delete(key);
    });
    this.counters.set(key, counter);
    return counter.join(answer);
  }
}

/** The bucket of a quota of so many messages a minute. */
export function bucketOf(key: string, perMinute: number): Bucket {
  const burst = Math.max(1, Math.floor(perMinute / BURSTS_PER_MINUTE));
  const fullPerMs = (perMinute - burst) / 60_000;
  return { key, burst, fullPerMs, rampStart: RAMP_START, rampMs: RAMP_MS };
}

interface Want {
  readonly permits: number;
  readonly sinceMs: number;
  readonly answer: (answer: QuotaAnswer) => void;
}

/** The permits of one quota on this node, until its last task has left. */
class Counter {
  private readonly bucket: Bucket;
  private readonly drawMax: number;
  private readonly options: QuotaLeaserOptions;
  private readonly gone: () => void;
  private readonly members = new Set<(answer: QuotaAnswer) => void>();
  private wants: Want[] = [];
  private allowance = 0;
  private drawnAtMs = 0;
  private drawAgainAtMs = 0;
  private pausedUntilMs = 0;
  private isDrawing = false;
  private timer: NodeJS.Timeout | null = null;
  private timerDueMs = 0;

  constructor({ key, perMinute }: Quota, options: QuotaLeaserOptions, gone: () => void) {
    this.bucket = bucketOf(key, perMinute);
    this.drawMax = Math.max(1, Math.floor(perMinute / DRAWS_PER_MINUTE));
    this.options = options;
    this.gone = gone;
  }

  join(answer: (answer: QuotaAnswer) => void): QuotaMember {
    this.members.add(answer);
    return {
      hear: (message) => this.hear(message, answer),
      leave: () => this.leave(answer),
    };
  }

  private hear(message: QuotaMessage, answer: (answer: QuotaAnswer) => void): void {
    switch (message.kind) {
      case 'wanted':
        this.wants.push({ permits: message.permits, sinceMs: this.nowMs, answer });
        break;
      case 'unused':
        this.allowance += message.permits;
        this.drawnAtMs = this.nowMs;
        break;
      case 'exceeded':
        this.pause(message.forMs);
        void this.attempt('a pause', () =>
          pauseQuota(this.options.sql, this.bucket, message.forMs),
        );
        break;
    }
    this.serve();
  }

  private leave(answer: (answer: QuotaAnswer) => void): void {
    this.members.delete(answer);
    this.wants = this.wants.filter((want) => want.answer !== answer);
    this.serve();
    if (this.members.size === 0) this.close();
  }

  private close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.handBack();
    this.gone();
  }

  private get nowMs(): number {
    return this.options.clock.monotonicMs();
  }

  private pause(forMs: number): void {
    const untilMs = this.nowMs + forMs;
    if (untilMs <= this.pausedUntilMs + SCARCE_MS) return;
    this.pausedUntilMs = untilMs;
    this.wants = [];
    this.options.log.warn({ quota: this.bucket.key, forMs }, 'a quota is used up; its sends wait');
    for (const answer of this.members) answer({ kind: 'wait', forMs });
  }

  /** Shares the permits among the tasks that wait, fairly, and draws more for the others. */
  private serve(): void {
    const pausedForMs = this.pausedUntilMs - this.nowMs;
    if (pausedForMs > 0) {
      for (const { answer } of this.wants.splice(0)) answer({ kind: 'wait', forMs: pausedForMs });
    }
    while (this.wants.length > 0 && this.allowance > 0) {
      const share = Math.max(1, Math.floor(this.allowance / this.wants.length));
      const want = this.wants.shift();
      if (want === undefined) break;
      const permits = Math.min(share, want.permits);
      this.allowance -= permits;
      want.answer({ kind: 'granted', permits, forMs: VALID_MS });
    }
    if (this.wants.length > 0) this.draw();
    else if (this.allowance > 0) this.later(IDLE_MS);
  }

  private draw(): void {
    if (this.isDrawing) return;
    const waitMs = this.drawAgainAtMs - this.nowMs;
    if (waitMs > 0) {
      this.later(waitMs);
      return;
    }
    this.isDrawing = true;
    const sum = this.wants.reduce((total, { permits }) => total + permits, 0);
    const least = Math.ceil(this.drawMax * DRAWN_SHARE_MIN);
    const wanted = Math.min(this.drawMax, Math.max(sum, least));
    void this.attempt('a draw', async () => {
      const drawn = await drawPermits(this.options.sql, this.bucket, wanted);
      this.allowance += drawn.granted;
      this.drawnAtMs = this.nowMs;
      if (drawn.pausedForMs > 0) this.pause(drawn.pausedForMs);
      if (drawn.granted < wanted) {
        this.drawAgainAtMs = this.nowMs + Math.max(SCARCE_MS, drawn.nextInMs);
      }
    }).then((isDone) => {
      this.isDrawing = false;
      if (!isDone) this.drawAgainAtMs = this.nowMs + OUTAGE_MS;
      if (this.members.size === 0) this.close();
      else this.serve();
    });
  }

  /** Serves again after so long, and after PATIENCE_MS at the latest. */
  private later(ms: number): void {
    const delayMs = Math.ceil(Math.min(ms, PATIENCE_MS));
    if (this.timer !== null) {
      if (this.timerDueMs <= this.nowMs + delayMs) return;
      clearTimeout(this.timer);
    }
    this.timerDueMs = this.nowMs + delayMs;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.dismissPatient();
      if (this.wants.length === 0 && this.nowMs - this.drawnAtMs >= IDLE_MS) this.handBack();
      this.serve();
    }, delayMs).unref();
  }

  /** Tasks that waited for PATIENCE_MS come again later: others get their slots. */
  private dismissPatient(): void {
    const sinceMs = this.nowMs - PATIENCE_MS;
    const dismissed = this.wants.filter((want) => want.sinceMs <= sinceMs);
    this.wants = this.wants.filter((want) => want.sinceMs > sinceMs);
    for (const { answer } of dismissed) answer({ kind: 'wait', forMs: PATIENCE_MS });
  }

  private handBack(): void {
    const permits = this.allowance;
    this.allowance = 0;
    if (permits === 0) return;
    void this.attempt('a return', () => returnPermits(this.options.sql, this.bucket, permits));
  }

  /** False: the database is down. After a lost pause other nodes hear from the provider. */
  private async attempt(what: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.options.log.warn(
        { err: error, quota: this.bucket.key, what },
        'the state of a quota could not be read or written',
      );
      return false;
    }
  }
}
