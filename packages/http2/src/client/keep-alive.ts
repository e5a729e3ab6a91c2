/**
 * Finds out by PING (RFC 9113, 6.7) whether a silent peer is alive, with no more PINGs than the
 * peer tolerates.
 */

export interface KeepAliveOptions {
  /** A connection that was silent for this long is asked for a sign of life. */
  readonly pingAfterSilenceMs: number;
  /** Without a sign of life for this long after that, it counts as dead. */
  readonly pingTimeoutMs: number;
  /** PINGs without a request between them. */
  readonly pingsInARowMax: number;
}

export class KeepAlive {
  readonly #options: KeepAliveOptions;
  #heardAtMs = performance.now();
  #pingedAtMs: number | null = null;
  #pingsInARow = 0;
  /** The last check found the connection silent for too long. */
  #isOverdue = false;

  constructor(options: KeepAliveOptions) {
    this.#options = options;
  }

  /** The peer has sent something. */
  heard(): void {
    this.#heardAtMs = performance.now();
  }

  /** Our PING was acknowledged. */
  acknowledged(): void {
    this.#pingedAtMs = null;
  }

  requested(): void {
    this.#pingsInARow = 0;
  }

  /**
   * Decides the next step. `isDoubtful`: a request got no answer in time, and nothing else has come
   * since it began.
   */
  next(nowMs: number, isDoubtful: boolean): 'ping' | 'give-up' | null {
    const { pingAfterSilenceMs, pingTimeoutMs, pingsInARowMax } = this.#options;
    if (this.#pingedAtMs !== null) {
      // Any input is a sign of life: the ACK may come after it.
      const quietSinceMs = Math.max(this.#pingedAtMs, this.#heardAtMs);
      const wasOverdue = this.#isOverdue;
      this.#isOverdue = nowMs - quietSinceMs > pingTimeoutMs;
      // A process that was suspended runs its timers first. It reads the input of that time before
      // the second check.
      return wasOverdue && this.#isOverdue ? 'give-up' : null;
    }
    if (!isDoubtful && nowMs - this.#heardAtMs <= pingAfterSilenceMs) return null;
    if (this.#pingsInARow >= pingsInARowMax) return null;
    this.#pingsInARow += 1;
    this.#pingedAtMs = nowMs;
    this.#isOverdue = false;
    return 'ping';
  }

  /** Whether the peer has been silent for this long. */
  isSilentFor(durationMs: number, nowMs: number): boolean {
    return nowMs - this.#heardAtMs >= durationMs;
  }
}
