/**
 * The deletion gate: if a large share of a send's devices is called dead or refused, the fault is
 * more likely the sender's (another environment, app or project) than the devices', and no device
 * is erased before an operator has looked.
 */

/**
 * In a list without sends for a year about a tenth of the tokens is dead; in a wrong environment
 * all are.
 * @limit share of a scope's answers that may be dead or refused → deletions are held; refusals are
 * not counted
 */
export const CONDEMNED_SHARE_MAX = 0.2;
/**
 * Below it a share means nothing, and little could be lost: small apps are cleaned up without an
 * operator.
 * @limit dead or refused devices below which their share does not count
 */
export const CONDEMNED_MIN = 100;
/**
 * Answers after which a running send may be judged; with fewer the gate waits for its end.
 * @limit answers before a running send is judged
 */
const ANSWERS_MIN = 1_000;

/** The answers of the providers for a scope of a notification so far. */
export interface DeletionGateCounts {
  readonly delivered: number;
  readonly gone: number;
  readonly refused: number;
  readonly isFinished: boolean;
}

/**
 * Whether the condemned devices of a scope may be erased now. Sends that failed for other reasons
 * say nothing about tokens.
 */
export function deletionGateOf({
  delivered,
  gone,
  refused,
  isFinished,
}: DeletionGateCounts): DeletionGate {
  const condemned = gone + refused;
  const answered = delivered + condemned;
  if (!isFinished && answered < ANSWERS_MIN) return 'waits';
  if (condemned < CONDEMNED_MIN || condemned <= answered * CONDEMNED_SHARE_MAX) return 'passes';
  return isFinished ? 'holds' : 'waits';
}

export type DeletionGate = 'passes' | 'holds' | 'waits';
