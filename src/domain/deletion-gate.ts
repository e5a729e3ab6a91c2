/**
 * The deletion gate: if a large share of a send's devices seems dead, the fault is more likely the
 * sender's (environment, app), and no device is erased before an operator has looked.
 */

/**
 * Dead tokens after a year without sends: a tenth. In a wrong environment: all.
 * @limit share of a scope's answers that may be dead or refused → deletions are held; refusals are
 * not counted
 */
export const CONDEMNED_SHARE_MAX = 0.2;
/**
 * Below it a share means nothing, and little could be lost.
 * @limit dead or refused devices below which their share does not count
 */
export const CONDEMNED_MIN = 100;
/** @limit answers before a running send is judged */
const ANSWERS_MIN = 1_000;

export interface DeletionGateCounts {
  readonly delivered: number;
  readonly gone: number;
  readonly refused: number;
  readonly isFinished: boolean;
}

/** Whether a scope's condemned devices may be erased now; other failures say nothing of tokens. */
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
