/**
 * How many connections the demand asks for: rate × round trip ÷ streams of a connection. Rather
 * than believing three estimates, it doubles the connections while they are used up and their
 * answers take no longer than a round trip: then streams are what limits. Where answers queue (in
 * this thread or at the provider) a doubling has to bring more of them, or else it is taken back.
 *
 *   watching ──used up for two spans──► growing (new ones connect) ──► settling (a span goes by) ──► measured
 *      ▲                                                                  │  ▲          more answers: watching, may double again
 *      │                                        nobody wants them any more│  │used up again   │
 *      │                                                                  ▼  │                │
 *      │                                                                unproven              │
 *      └────────answers queue, and no more of them: back to as many as before, no growth for a while
 */

export interface GrowthOptions {
  readonly connectionsMax: number;
  /** A span over which the demand is watched; never shorter than two round trips. */
  readonly growEveryMs: number;
}

/**
 * What a doubling has to bring at least, where answers queue: more than a process that becomes hot,
 * or a machine whose other work ends.
 */
const GAIN_MIN = 1.25;
/** Used up for so much of a span, or else one more connection would idle. */
const USED_UP_SHARE_MIN = 0.5;
/**
 * In a row. A connection takes four round trips to open: a push that is over by then has nothing of
 * it, and each one costs a megabyte to keep (`bench -- soak`: pushes of 3,500 devices use one
 * connection up for 50 ms each, and now and then for more than half a span).
 */
const USED_UP_SPANS_MIN = 2;
/** After a doubling that brought nothing, while there are answers at all. */
const HOLD_MS = 60_000;
/** After a connection that was of no use: the provider may want no more of them. */
const HOLD_AFTER_LOSS_MS = 10_000;
const ROUND_TRIPS_PER_SPAN = 2;

/** Open so many more, retire so many, or leave it. */
export interface GrowthStep {
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
  /** In a row. */
  #usedUpSpans = 0;
  #state: 'watching' | 'growing' | 'settling' | 'unproven' = 'watching';
  #rateBefore = 0;
  #connectionsBefore = 0;
  #heldUntilMs = 0;
  #heldAfterLossUntilMs = 0;

  constructor(options: GrowthOptions) {
    this.#options = options;
  }

  /** Another span is to be watched. */
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

  /** Somebody waits, and no stream is free on any connection. */
  usedUp(nowMs: number): void {
    this.#usedUpSinceMs ??= nowMs;
  }

  /** There is room again. */
  relieved(nowMs: number): void {
    if (this.#usedUpSinceMs === null) return;
    this.#usedUpMs += nowMs - this.#usedUpSinceMs;
    this.#usedUpSinceMs = null;
  }

  /** A connection has ended before it was of any use, while others work. */
  lost(nowMs: number): void {
    this.#heldAfterLossUntilMs = nowMs + HOLD_AFTER_LOSS_MS;
  }

  /** Begins a span: what was counted before is forgotten. */
  begin(nowMs: number): void {
    this.#spanStartedMs = nowMs;
    this.#answers = 0;
    this.#usedUpMs = 0;
    if (this.#usedUpSinceMs !== null) this.#usedUpSinceMs = nowMs;
  }

  /**
   * Ends a span. `connections`: those that take requests; `connecting`: those that will;
   * `isQueueing`: answers take longer than the round trip.
   */
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
        // This span began before the last of them was there.
        this.#state = 'settling';
        return NOTHING;
      case 'settling':
      case 'unproven':
        // With twice as many they are used up less often, whatever it brought; but somebody still
        // has to want them. The doubling for a push that is over is measured by a later one: kept
        // for good, it would be doubled again.
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

  /**
   * Without a single answer nobody knows. Of connections that have not come, or have gone since,
   * nothing is to be taken back.
   */
  #broughtNothing(rate: number, connections: number): boolean {
    return connections > this.#connectionsBefore && rate > 0 && rate < this.#rateBefore * GAIN_MIN;
  }

  /**
   * Where nothing is answered it may be the connections that are silent, and whoever waits for them
   * need not wait longer.
   */
  #isLasting(rate: number): boolean {
    return rate === 0 || this.#usedUpSpans >= USED_UP_SPANS_MIN;
  }

  #isHeld(nowMs: number, rate: number): boolean {
    return nowMs < this.#heldAfterLossUntilMs || (rate > 0 && nowMs < this.#heldUntilMs);
  }

  #double(rate: number, connections: number): GrowthStep {
    // While nothing is answered, by connections that have gone silent or a provider that has, one
    // more tells which it is.
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
