/**
 * A revision of the database, as this node knows it: that of credentials (decision 43), or that of
 * sessions (decision 43). What is remembered of a caller holds under one revision. While callers
 * come, it is read a few times a second, so that what was taken away is refused within a second.
 */

/**
 * A revision that was read less than this long ago is used without a query.
 * @limit a credential is answered from memory after a look at the revision → the revision is looked
 * at again
 */
const FRESH_MS = 400;
/**
 * Until this age it is used while it is read again: the longest that a revoked credential works.
 * @limit a credential is answered from memory while the revision is looked at again → the database
 * is asked
 */
const STALE_MS = 800;
/**
 * After this time every node refuses what was taken away, and has done what it had begun.
 * @limit after a revocation, its push jobs are looked for once more
 */
export const REVOKED_WITHIN_MS = 1_000;

export class KnownRevision {
  /** Asks the database. */
  readonly #read: () => Promise<string>;
  readonly #now: () => number;
  /** The newest revision that is known, and when it was asked for. */
  #revision = '';
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #isAsking = false;

  /** `monotonicMs`: with a system clock that is set back, a revoked credential would work on. */
  constructor(read: () => Promise<string>, monotonicMs: () => number) {
    this.#read = read;
    this.#now = monotonicMs;
  }

  /** Whether what was read under this revision still holds; false also when that is unknown. */
  holds(revision: string): boolean {
    if (revision !== this.#revision) return false;
    const ageMs = this.#now() - this.#askedAtMs;
    if (ageMs >= STALE_MS) return false;
    if (ageMs >= FRESH_MS) this.#lookAgain();
    return true;
  }

  /** A statement that began at this time has read this revision. */
  stand(revision: string, askedAtMs: number): void {
    if (askedAtMs < this.#askedAtMs) return;
    this.#revision = revision;
    this.#askedAtMs = askedAtMs;
  }

  /**
   * A failure needs no report: the revision becomes stale in a moment, and the next caller's query
   * reads it.
   */
  #lookAgain(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const askedAtMs = this.#now();
    this.#read()
      .then((revision) => this.stand(revision, askedAtMs))
      .catch(() => undefined)
      .finally(() => {
        this.#isAsking = false;
      });
  }
}
