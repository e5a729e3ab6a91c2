/** The messages between the runner and its lanes. */

/** Where a lane writes TAP: standard output may have what the code under test prints. */
export const TAP_DESCRIPTOR = 4;

/** The stores on which the tests of a file run. */
export type Stores = 'both' | 'postgres' | 'embedded';

/** Instead of an assignment: there is no further file. */
export const NO_MORE = 'no more';

/** A file to run. */
export interface Assignment {
  readonly file: string;
  readonly stores: Stores;
  readonly timeoutMs: number;
}

export interface FileReport {
  readonly file: string;
  readonly ms: number;
  /** User and system time of the lane, and of the processes that it started and saw end. */
  readonly cpuMs: number;
  /** Assertions. */
  readonly total: number;
  readonly pass: number;
  readonly fail: number;
  readonly skip: number;
  readonly todo: number;
  /** The connections, timers and rows that it has left. */
  readonly left: readonly string[];
}
