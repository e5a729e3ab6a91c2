/** The messages between the engine and the processes that evaluate templates. */

/** The templates of one push. */
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

/**
 * That the process can evaluate. Then an Evaluated comes for each expression, in order, up to one
 * that ends the evaluation.
 */
export const READY = 'ready';
