/**
 * Asks for an action with the type of its answer. Loads nothing of the actions: the command line
 * stays light.
 */

import type { ActionName, ActionResult, Answers, OperatorActions } from './operator-actions.ts';

/**
 * The answer is not checked once more: the same program made it, in an engine or in this process.
 */
export const ask = <Name extends ActionName>(
  actions: OperatorActions,
  action: Name,
  input: unknown,
): Promise<ActionResult<Answers[Name]>> =>
  actions(action, input) as Promise<ActionResult<Answers[Name]>>;
