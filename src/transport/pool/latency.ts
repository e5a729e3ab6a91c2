/** The lowest latency of the last one to two spans counts as the round trip: routes change. */
const SPAN_MS = 30_000;
/** Weight of one answer in the mean, which so depends on about the last hundred. */
const WEIGHT = 1 / 64;
/** A mean below so many times the quickest answer is normal variation of provider and network. */
const QUEUEING_FACTOR = 1.5;

export class Latency {
  #meanMs: number | null = null;
  #lowestMs = Number.POSITIVE_INFINITY;
  #lowestBeforeMs = Number.POSITIVE_INFINITY;
  #spanStartedMs: number | null = null;

  answered(latencyMs: number): void {
    this.#meanMs =
      this.#meanMs === null ? latencyMs : this.#meanMs + (latencyMs - this.#meanMs) * WEIGHT;
    if (latencyMs < this.#lowestMs) this.#lowestMs = latencyMs;
  }

  /** Must be called at intervals. */
  tick(nowMs: number): void {
    this.#spanStartedMs ??= nowMs;
    if (nowMs - this.#spanStartedMs < SPAN_MS) return;
    this.#spanStartedMs = nowMs;
    this.#lowestBeforeMs = this.#lowestMs;
    this.#lowestMs = Number.POSITIVE_INFINITY;
  }

  /** Whether requests or answers wait in some queue. */
  get isQueueing(): boolean {
    return this.meanMs > this.roundTripMs * QUEUEING_FACTOR;
  }

  get meanMs(): number {
    return this.#meanMs ?? 0;
  }

  get roundTripMs(): number {
    const lowestMs = Math.min(this.#lowestMs, this.#lowestBeforeMs);
    return lowestMs === Number.POSITIVE_INFINITY ? this.meanMs : lowestMs;
  }
}
