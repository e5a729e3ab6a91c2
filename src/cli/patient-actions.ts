/**
 * Actions of a long command. They wait for an engine or database that is unavailable for a moment.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { errorReason } from '../../packages/std/src/error-reason.ts';
import { faultOf } from '../database/faults.ts';
import { ask } from '../operator/ask.ts';
import type {
  ActionName,
  ActionResult,
  Answers,
  OperatorActions,
} from '../operator/operator-actions.ts';
import type { BackoffPolicy } from '../std/backoff.ts';
import { backoffMs } from '../std/backoff.ts';

const BACKOFF: BackoffPolicy = { baseMs: 250, capMs: 5_000 };
/**
 * A restart of the engine or a failover of the database takes less.
 * @limit an engine or database that is away is waited for → the command ends; the same command
 * continues later
 */
const PATIENCE_MS = 60_000;

/** All attempts failed: the message is a sentence for the operator. */
export class GivenUpError extends Error {}

/**
 * The answer of an action, which must be safe to repeat. `accept` may refuse a value with a
 * sentence; then the action is repeated.
 */
export async function askPatiently<Name extends ActionName>(
  actions: OperatorActions,
  action: Name,
  input: unknown,
  accept: (value: Answers[Name]) => string | null = () => null,
): Promise<Answers[Name]> {
  const endMs = performance.now() + PATIENCE_MS;
  for (let attempt = 1; ; attempt += 1) {
    const result = await askAvailable(actions, action, input);
    const fault = result.ok ? accept(result.value) : result.fault;
    if (result.ok && fault === null) return result.value;
    if (performance.now() > endMs) throw new GivenUpError(fault ?? '');
    await sleep(backoffMs(BACKOFF, attempt));
  }
}

/** The value of an action that is tried once; a refusal is thrown as a GivenUpError. */
export async function askOnce<Name extends ActionName>(
  actions: OperatorActions,
  action: Name,
  input: unknown,
): Promise<Answers[Name]> {
  const result = await askAvailable(actions, action, input);
  if (!result.ok) throw new GivenUpError(result.fault);
  return result.value;
}

/** An unavailable database is a fault like any other. */
async function askAvailable<Name extends ActionName>(
  actions: OperatorActions,
  action: Name,
  input: unknown,
): Promise<ActionResult<Answers[Name]>> {
  try {
    return await ask(actions, action, input);
  } catch (error) {
    if (faultOf(error) !== 'unavailable') throw error;
    return { ok: false, fault: `The database cannot be reached: ${errorReason(error)}.` };
  }
}
