/** Attributes of a step in a trace: plain values, which cross the ports of threads. */

export type StepAttributes = Readonly<Record<string, string | number>>;

export interface Step {
  readonly name: string;
  /** Epoch milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: StepAttributes;
}
