/**
 * Decides how many connections the demand needs: rate × round trip ÷ streams of a connection. It
 * does not rely on these three estimates: it doubles the connections while they are used up and
 * their answers take no longer than a round trip: then streams are the limit. Where answers wait in
 * a queue (in this thread or at the provider), a doubling must bring more of them, or it is taken
 * back.
 *
 *   watching ──used up for two spans──► growing (new ones connect) ──► settling (a span goes by) ──► measured
 *      ▲                                                                  │  ▲          more answers: watching, may double again
 *      │                                       no send needs them any more│  │used up again   │
 *      │                                                                  ▼  │                │
 *      │                                                                unproven              │
 *      └────────answers queue, and no more of them: back to as many as before, no growth for a while
 */

interface GrowthOptions {
  readonly connectionsMax: number;
  /** Never shorter than two round trips. */
  readonly growEveryMs: number;
}

/** More than comes from a process that warms up, or a machine whose other work ends. */
const GAIN_MIN = 1.25;
/** Connections must be used up for this share of a span: otherwise one more would be idle. */
const USED_UP_SHARE_MIN = 0.5;
/**
 * In a row before a doubling. A connection takes four round trips to open and costs a megabyte: it
 * is of no use to a push that is over by then.
 */
const USED_UP_SPANS_MIN = 2;
/**
 * While any answers come.
 * @limit no growth of a pool after a doubling without effect
 */
const HOLD_MS = 60_000;
/**
 * The provider may want no more of them.
 * @limit no growth after a connection without effect
 */
const HOLD_AFTER_LOSS_MS = 10_000;
const ROUND_TRIPS_PER_SPAN = 2;

interface GrowthStep {
  readonly open: number;
  readonly retire: number;
}

const NOTHING: GrowthStep = { open: 0, retire: 0 };

export class Growth {
  readonly #options: GrowthOptions;
  #spanStartedMs = 0;
  #answers = 0;
  #usedUpMs = 0;
  #usedUpSinceMs: number | null = null;
  #usedUpSpans = 0;
  #state: 'watching' | 'growing' | 'settling' | 'unproven' = 'watching';
  #rateBefore = 0;
  #connectionsBefore = 0;
  #heldUntilMs = 0;
  #heldAfterLossUntilMs = 0;

  constructor(options: GrowthOptions) {
    this.#options = options;
  }

  get isBusy(): boolean {
    const isMeasuring = this.#state === 'growing' || this.#state === 'settling';
    return isMeasuring || this.#usedUpSinceMs !== null || this.#usedUpSpans > 0;
  }

  spanMs(roundTripMs: number): number {
    return Math.max(this.#options.growEveryMs, roundTripMs * ROUND_TRIPS_PER_SPAN);
  }

  answered(): void {
    this.#answers += 1;
  }

  usedUp(nowMs: number): void {
    this.#usedUpSinceMs ??= nowMs;
  }

  relieved(nowMs: number): void {
    if (this.#usedUpSinceMs === null) return;
    this.#usedUpMs += nowMs - this.#usedUpSinceMs;
    this.#usedUpSinceMs = null;
  }

  /** A connection has ended before it was of any use, while others work. */
  lost(nowMs: number): void {
    this.#heldAfterLossUntilMs = nowMs + HOLD_AFTER_LOSS_MS;
  }

  begin(nowMs: number): void {
    this.#spanStartedMs = nowMs;
    this.#answers = 0;
    this.#usedUpMs = 0;
    if (this.#usedUpSinceMs !== null) this.#usedUpSinceMs = nowMs;
  }

  /** `connections` take requests; `isQueueing`: whether answers take longer than the round trip. */
  end(nowMs: number, connections: number, connecting: number, isQueueing: boolean): GrowthStep {
    const rate = this.#answers / Math.max(1, nowMs - this.#spanStartedMs);
    const usedUpMs =
      this.#usedUpMs + (this.#usedUpSinceMs === null ? 0 : nowMs - this.#usedUpSinceMs);
    const isUsedUp = usedUpMs >= (nowMs - this.#spanStartedMs) * USED_UP_SHARE_MIN;
    this.#usedUpSpans = isUsedUp ? this.#usedUpSpans + 1 : 0;
    this.begin(nowMs);
    if (connecting > 0) return NOTHING;
    switch (this.#state) {
      case 'growing':
        // This span began before the last of them was open.
        this.#state = 'settling';
        return NOTHING;
      case 'settling':
      case 'unproven':
        // Twice as many are used up less often, also in vain; but some send must still need them:
        // without a measurement the doubling would stay, and be doubled again.
        if (this.#state === 'settling' ? usedUpMs === 0 : !isUsedUp) {
          this.#state = 'unproven';
          return NOTHING;
        }
        this.#state = 'watching';
        if (isQueueing && this.#broughtNothing(rate, connections)) {
          return this.#takeBack(nowMs, connections);
        }
        break;
      case 'watching':
        break;
    }
    if (!isUsedUp || !this.#isLasting(rate) || this.#isHeld(nowMs, rate)) return NOTHING;
    return this.#double(rate, connections);
  }

  /** Unknown without any answer; nothing to take back if the new ones did not open, or ended. */
  #broughtNothing(rate: number, connections: number): boolean {
    return connections > this.#connectionsBefore && rate > 0 && rate < this.#rateBefore * GAIN_MIN;
  }

  /** Without any answer the connections may be dead: waiting sends need no second span then. */
  #isLasting(rate: number): boolean {
    return rate === 0 || this.#usedUpSpans >= USED_UP_SPANS_MIN;
  }

  #isHeld(nowMs: number, rate: number): boolean {
    return nowMs < this.#heldAfterLossUntilMs || (rate > 0 && nowMs < this.#heldUntilMs);
  }

  #double(rate: number, connections: number): GrowthStep {
    // Without any answer connections or provider are dead: one more connection shows which.
    const wanted = rate === 0 ? 1 : connections;
    const open = Math.min(wanted, this.#options.connectionsMax - connections);
    if (open <= 0) return NOTHING;
    this.#state = 'growing';
    this.#rateBefore = rate;
    this.#connectionsBefore = connections;
    return { open, retire: 0 };
  }

  #takeBack(nowMs: number, connections: number): GrowthStep {
    this.#heldUntilMs = nowMs + HOLD_MS;
    return { open: 0, retire: connections - this.#connectionsBefore };
  }
}
