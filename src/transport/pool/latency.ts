/** How long a provider takes to answer: now, and when nothing stands in the way. */

/** The lowest of the last one to two of these spans counts as the round trip: routes change. */
const SPAN_MS = 30_000;
/** Weight of one answer in the mean: the last hundred or so make it. */
const WEIGHT = 1 / 64;
/** Less than this over the quickest one is the providers' and the network's chance. */
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

  /** To be called now and then. */
  tick(nowMs: number): void {
    this.#spanStartedMs ??= nowMs;
    if (nowMs - this.#spanStartedMs < SPAN_MS) return;
    this.#spanStartedMs = nowMs;
    this.#lowestBeforeMs = this.#lowestMs;
    this.#lowestMs = Number.POSITIVE_INFINITY;
  }

  /** Answers wait somewhere, besides on their way. */
  get isQueueing(): boolean {
    return this.meanMs > this.roundTripMs * QUEUEING_FACTOR;
  }

  /** Of the last answers; 0 before the first. */
  get meanMs(): number {
    return this.#meanMs ?? 0;
  }

  /** The quickest answer of late; 0 before the first. */
  get roundTripMs(): number {
    const lowestMs = Math.min(this.#lowestMs, this.#lowestBeforeMs);
    return lowestMs === Number.POSITIVE_INFINITY ? this.meanMs : lowestMs;
  }
}
