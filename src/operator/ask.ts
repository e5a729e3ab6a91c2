/**
 * Asks for an action with the type of its answer. Does not load the actions, so that the command
 * line stays light.
 */

import type { ActionName, ActionResult, Answers, OperatorActions } from './operator-actions.ts';

/** The answer is not checked again: the same program made it, in an engine or in this process. */
export const ask = <Name extends ActionName>(
  actions: OperatorActions,
  action: Name,
  input: unknown,
): Promise<ActionResult<Answers[Name]>> =>
  actions(action, input) as Promise<ActionResult<Answers[Name]>>;
