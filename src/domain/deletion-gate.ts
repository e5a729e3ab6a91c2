/**
 * The safety gate of deletions: when a large share of a send's devices is called dead or refused,
 * the fault is more likely ours (another environment, app or project) than theirs, and nobody is
 * erased before somebody has looked.
 */

/**
 * A year of dead tokens in a list that was never sent to is about a tenth; a wrong environment is
 * all of them.
 */
export const CONDEMNED_SHARE_MAX = 0.2;
/**
 * Below it a share says nothing, and what could be lost is little: small apps clean themselves up
 * without an operator.
 */
export const CONDEMNED_MIN = 100;
/** Answers after which a running send may be judged; before that its end is waited for. */
export const ANSWERS_MIN = 1_000;

/** A scope of a notification as far as the providers have answered. */
export interface GateCounts {
  readonly delivered: number;
  readonly gone: number;
  readonly refused: number;
  readonly isFinished: boolean;
}

/**
 * Whether what its answers condemned may be carried out now. What failed for other reasons says
 * nothing of tokens.
 */
export function gateOf({ delivered, gone, refused, isFinished }: GateCounts): Gate {
  const condemned = gone + refused;
  const answered = delivered + condemned;
  if (!isFinished && answered < ANSWERS_MIN) return 'waiting';
  if (condemned < CONDEMNED_MIN || condemned <= answered * CONDEMNED_SHARE_MAX) return 'open';
  return isFinished ? 'closed' : 'waiting';
}

export type Gate = 'open' | 'closed' | 'waiting';
