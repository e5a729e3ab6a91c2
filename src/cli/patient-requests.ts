/** Requests of a long command, which wait for an engine or database that is away for a moment. */

import { setTimeout as sleep } from 'node:timers/promises';
import { errorReason } from '../../packages/std/src/error-reason.ts';
import { faultOf } from '../database/faults.ts';
import type { BackoffPolicy } from '../std/backoff.ts';
import { backoffMs } from '../std/backoff.ts';
import { isForTheMoment, refusalOf } from './operator-api.ts';

const BACKOFF: BackoffPolicy = { baseMs: 250, capMs: 5_000 };
/**
 * A restart of the engine or a failover of the database takes less.
 * @limit an engine or database that is away is waited for → the command ends; the same command
 * continues later
 */
const PATIENCE_MS = 60_000;

/** The request was refused, or all its attempts failed: the message is a sentence. */
export class GivenUpError extends Error {}

/** The request must be safe to repeat: also when `accept` refuses the value with a sentence. */
export async function askPatiently<Value>(
  ask: () => Promise<Value>,
  accept: (value: Value) => string | null = () => null,
): Promise<Value> {
  const endMs = performance.now() + PATIENCE_MS;
  for (let attempt = 1; ; attempt += 1) {
    const asked = await attemptOf(ask);
    const fault = asked.ok ? accept(asked.value) : asked.fault;
    if (asked.ok && fault === null) return asked.value;
    const isFinal = !asked.ok && !asked.isForTheMoment;
    if (isFinal || performance.now() > endMs) throw new GivenUpError(fault ?? '');
    await sleep(backoffMs(BACKOFF, attempt));
  }
}

/** The value of a request that is tried once; a refusal is thrown as a GivenUpError. */
export async function askOnce<Value>(ask: () => Promise<Value>): Promise<Value> {
  const asked = await attemptOf(ask);
  if (!asked.ok) throw new GivenUpError(asked.fault);
  return asked.value;
}

type Attempt<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly fault: string; readonly isForTheMoment: boolean };

/** Throws bugs only: an unavailable database is a fault like any other. */
async function attemptOf<Value>(ask: () => Promise<Value>): Promise<Attempt<Value>> {
  try {
    return { ok: true, value: await ask() };
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal !== null) {
      return { ok: false, fault: refusal, isForTheMoment: isForTheMoment(error) };
    }
    if (faultOf(error) !== 'unavailable') throw error;
    const fault = `The database cannot be reached: ${errorReason(error)}.`;
    return { ok: false, fault, isForTheMoment: true };
  }
}
