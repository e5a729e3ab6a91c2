/** What goes between the engine and the processes that evaluate templates. */

/** The templates of one push. */
export interface EvaluationTask {
  /** Each once. */
  readonly expressions: readonly string[];
  /** The payload as JSON. Null: they are only checked. */
  readonly input: string | null;
  /** For all of them together. */
  readonly msMax: number;
}

/** That the process can evaluate. Then an Evaluated comes for each expression, in order. */
export const READY = 'ready';
