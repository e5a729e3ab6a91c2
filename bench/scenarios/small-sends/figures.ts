/** The figures of a load of small sends, as a line of the table. */

import type { Costs } from './costs.ts';

/** The figures of a load. Costs are those of each send. */
export type Figures = Costs & {
  readonly sends: number;
  readonly perSecond: number | null;
  /** From the request until the outcome is recorded. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** From the request to the transaction that accepts it, and to the first attempt: medians. */
  readonly acceptMs: number | null;
  readonly attemptMs: number | null;
  /** From the moment that they were due for until the first and the last first attempt. */
  readonly firstMs: number | null;
  readonly lastMs: number | null;
  /**
   * The same of single ones that are pushed while those are sent, from their requests on: by their
   * client for the moment, by their client as urgent ones, and by another client. The median, and
   * the latest.
   */
  readonly momentMs: number | null;
  readonly momentMostMs: number | null;
  readonly urgentMs: number | null;
  readonly urgentMostMs: number | null;
  readonly otherMs: number | null;
  readonly otherMostMs: number | null;
  /** The most memory that the engine had meanwhile. */
  readonly residentMb: number | null;
};

export const NO_TIMES = {
  p50Ms: null,
  p99Ms: null,
  acceptMs: null,
  attemptMs: null,
  firstMs: null,
  lastMs: null,
  momentMs: null,
  momentMostMs: null,
  urgentMs: null,
  urgentMostMs: null,
  otherMs: null,
  otherMostMs: null,
  residentMb: null,
};
