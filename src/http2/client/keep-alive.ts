/**
 * Finds out whether a silent peer still lives, by PING (RFC 9113, 6.7), within what the peer puts
 * up with.
 */

export interface KeepAliveOptions {
  /** A connection that was silent for so long is asked for a sign of life. */
  readonly pingAfterSilenceMs: number;
  /** Without a sign of life for so long after that, it is taken for dead. */
  readonly pingTimeoutMs: number;
  /** PINGs without a request between them. */
  readonly pingsInARowMax: number;
}

export class KeepAlive {
  readonly #options: KeepAliveOptions;
  #heardAtMs = performance.now();
  #pingedAtMs: number | null = null;
  #pingsInARow = 0;
  /** The last look found it quiet for too long. */
  #isOverdue = false;

  constructor(options: KeepAliveOptions) {
    this.#options = options;
  }

  /** Something came from the peer. */
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
   * What is to be done now. `isDoubtful`: a request got no answer, and nothing else has come since
   * it began.
   */
  next(nowMs: number, isDoubtful: boolean): 'ping' | 'give-up' | null {
    const { pingAfterSilenceMs, pingTimeoutMs, pingsInARowMax } = this.#options;
    if (this.#pingedAtMs !== null) {
      // Whatever comes is a sign of life; the ACK may wait behind it.
      const quietSinceMs = Math.max(this.#pingedAtMs, this.#heardAtMs);
      const wasOverdue = this.#isOverdue;
      this.#isOverdue = nowMs - quietSinceMs > pingTimeoutMs;
      // A process that was stopped looks at its timers first: what has come meanwhile it reads
      // before the second look.
      return wasOverdue && this.#isOverdue ? 'give-up' : null;
    }
    if (!isDoubtful && nowMs - this.#heardAtMs <= pingAfterSilenceMs) return null;
    if (this.#pingsInARow >= pingsInARowMax) return null;
    this.#pingsInARow += 1;
    this.#pingedAtMs = nowMs;
    this.#isOverdue = false;
    return 'ping';
  }

  /** Whether nothing has come for so long. */
  isSilentFor(durationMs: number, nowMs: number): boolean {
    return nowMs - this.#heardAtMs >= durationMs;
  }
}
