/** What something lasts as long as: a test, or a scenario of the bench. */

export interface Lifetime {
  /** Calls `end` when it is over, latest registered first. */
  teardown(end: () => unknown): void;
}
