/** The lifetime of a resource: that of a test, or of a scenario of the bench. */

export interface Lifetime {
  /** Calls `end` when it is over, latest registered first. */
  teardown(end: () => unknown): void;
}
