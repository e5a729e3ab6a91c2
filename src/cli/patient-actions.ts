/** Actions of a long command: an engine or database that is away for a moment is waited for. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { ActionResult, OperatorActions } from '../operator/operator-actions.ts';
import type { BackoffPolicy } from '../std/backoff.ts';
import { backoffMs } from '../std/backoff.ts';
import { errorReason } from '../std/error-reason.ts';
import { faultOf } from '../store/faults.ts';

const BACKOFF: BackoffPolicy = { baseMs: 250, capMs: 5_000 };
/** A restart of the engine or a failover of the database takes less. */
const PATIENCE_MS = 60_000;

/** It was in vain: the message is a sentence for the operator. */
export class GivenUpError extends Error {}

/**
 * What an action answers, which must be safe to ask twice. `accept` may refuse a value, with a sentence, to have it asked
 * again. What the engine wrote is not checked once more.
 */
export async function askPatiently<T>(
  actions: OperatorActions,
  action: string,
  input: unknown,
  accept: (value: T) => string | null = () => null,
): Promise<T> {
  const endMs = performance.now() + PATIENCE_MS;
  for (let attempt = 1; ; attempt += 1) {
    const result = await ask(actions, action, input);
    const fault = result.ok ? accept(result.value as T) : result.fault;
    if (result.ok && fault === null) return result.value as T;
    if (performance.now() > endMs) throw new GivenUpError(fault ?? '');
    await sleep(backoffMs(BACKOFF, attempt));
  }
}

/** The value of an action, or a sentence at once. */
export async function askOnce<T>(
  actions: OperatorActions,
  action: string,
  input: unknown,
): Promise<T> {
  const result = await ask(actions, action, input);
  if (!result.ok) throw new GivenUpError(result.fault);
  return result.value as T;
}

async function ask(
  actions: OperatorActions,
  action: string,
  input: unknown,
): Promise<ActionResult> {
  try {
    return await actions(action, input);
  } catch (error) {
    if (faultOf(error) !== 'unavailable') throw error;
    return { ok: false, fault: `The database cannot be reached: ${errorReason(error)}.` };
  }
}
