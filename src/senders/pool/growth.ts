/**
 * How many connections the demand asks for: rate × round trip ÷ streams of a connection. Rather than believing three estimates, it
 * doubles the connections while they are used up and each doubling brings more answers a second; the doubling that does not
 * (this thread or the provider is what limits) is taken back.
 *
 *   watching ──used up for half a span──► growing (new ones connect) ──► settling (a span goes by) ──► measured
 *      ▲                                                                              more answers: watching, may double again
 *      └───────────────no more answers: back to as many as before, and no growth for a while───────────┘
 */

export interface GrowthOptions {
  readonly connectionsMax: number;
  /** A span over which the demand is watched; never shorter than two round trips. */
  readonly growEveryMs: number;
}

/** What a doubling has to bring at least. */
const GAIN_MIN = 1.1;
/** Used up for so much of a span, or else one more connection would idle. */
const USED_UP_SHARE_MIN = 0.5;
/** After a doubling that brought nothing … */
const HOLD_MS = 60_000;
/** … as long as answers come at about the pace of then. Beyond this factor something else limits now, a silent connection say … */
const HELD_PACE_FACTOR = 4;
/** … if it is so for so many spans: one alone may be chance, and opening and closing in turns is what providers call an attack. */
const OFF_PACE_SPANS = 4;
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
  #state: 'watching' | 'growing' | 'settling' = 'watching';
  #rateBefore = 0;
  #added = 0;
  #heldUntilMs = 0;
  #heldRate = 0;
  #offPaceSpans = 0;

  constructor(options: GrowthOptions) {
    this.#options = options;
  }

  /** Another span is to be watched. */
  get isBusy(): boolean {
    return this.#state !== 'watching' || this.#usedUpSinceMs !== null;
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

  /** Begins a span: what was counted before is forgotten. */
  begin(nowMs: number): void {
    this.#spanStartedMs = nowMs;
    this.#answers = 0;
    this.#usedUpMs = 0;
    if (this.#usedUpSinceMs !== null) this.#usedUpSinceMs = nowMs;
  }

  /** Ends a span. `connections`: those that take requests; `connecting`: those that will. */
  end(nowMs: number, connections: number, connecting: number): GrowthStep {
    const rate = this.#answers / Math.max(1, nowMs - this.#spanStartedMs);
    const usedUpMs =
      this.#usedUpMs + (this.#usedUpSinceMs === null ? 0 : nowMs - this.#usedUpSinceMs);
    const isUsedUp = usedUpMs >= (nowMs - this.#spanStartedMs) * USED_UP_SHARE_MIN;
    this.begin(nowMs);
    if (connecting > 0) return NOTHING;
    switch (this.#state) {
      case 'growing':
        // This span began before the last of them was there.
        this.#state = 'settling';
        return NOTHING;
      case 'settling':
        this.#state = 'watching';
        // Without a single answer it says nothing of the doubling.
        if (isUsedUp && rate > 0 && rate < this.#rateBefore * GAIN_MIN)
          return this.#takeBack(nowMs, connections);
        break;
      case 'watching':
        break;
    }
    if (!isUsedUp || this.#isHeld(nowMs, rate)) return NOTHING;
    return this.#double(rate, connections);
  }

  #isHeld(nowMs: number, rate: number): boolean {
    if (nowMs >= this.#heldUntilMs) return false;
    const isOnPace =
      rate * HELD_PACE_FACTOR >= this.#heldRate && rate <= this.#heldRate * HELD_PACE_FACTOR;
    this.#offPaceSpans = isOnPace ? 0 : this.#offPaceSpans + 1;
    return this.#offPaceSpans < OFF_PACE_SPANS;
  }

  #double(rate: number, connections: number): GrowthStep {
    // While nothing is answered, by connections that have gone silent or a provider that has, one more tells which it is.
    const wanted = rate === 0 ? 1 : connections;
    const open = Math.min(wanted, this.#options.connectionsMax - connections);
    if (open <= 0) return NOTHING;
    this.#state = 'growing';
    this.#rateBefore = rate;
    this.#added = open;
    return { open, retire: 0 };
  }

  #takeBack(nowMs: number, connections: number): GrowthStep {
    this.#heldUntilMs = nowMs + HOLD_MS;
    this.#heldRate = this.#rateBefore;
    this.#offPaceSpans = 0;
    return { open: 0, retire: Math.min(this.#added, connections - 1) };
  }
}
