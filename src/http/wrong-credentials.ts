/** The answer to who presents wrong credentials or links too often. */

import type { Failures } from '../access/failures.ts';
import type { Guessed } from '../access/guesses.ts';
import type { HttpResponse } from './handler.ts';
import { problem } from './problem.ts';

/**
 * Counts a wrong credential, or a link that does not exist. Returns the refusal of a network that
 * has presented too many; null: it has not, and gets the answer for a single one.
 */
export function refuseGuesser(
  failures: Failures,
  { requestId, address }: { readonly requestId: string; readonly address: string },
  what: Guessed,
): HttpResponse | null {
  const retryAfterMs = failures.noteAndAskRetryAfterMs(address, what);
  if (retryAfterMs === 0) return null;
  return problem(requestId, 429, 'Too many wrong credentials came from this address.', {
    headers: { 'Retry-After': String(Math.ceil(retryAfterMs / 1_000)) },
  });
}
