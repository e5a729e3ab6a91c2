/**
 * A revision of credentials or sessions, as this node knows it: what is remembered of a caller
 * holds under one. It is read a few times a second while callers come (decision 43).
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
  readonly #read: () => Promise<string>;
  readonly #now: () => number;
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
   * A failure needs no report: the revision becomes stale, and the next caller's query reads it.
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
