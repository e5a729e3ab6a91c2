/** The messages between the engine and the processes that evaluate templates. */

export interface EvaluationTask {
  /** Each once. */
  readonly expressions: readonly string[];
  /** The payload as JSON. Null: they are only checked. */
  readonly input: string | null;
  readonly limits: EvaluationLimits;
}

/** For all templates of a push together. */
export interface EvaluationLimits {
  /** The time of the process that evaluates them. A push that needs more is refused. */
  readonly processorMs: number;
  /** On the wall. One that takes longer may be tried again: the machine is busy. */
  readonly wallMs: number;
}

/** The process can evaluate. An Evaluated follows for each expression, up to one that ends it. */
export const READY = 'ready';
