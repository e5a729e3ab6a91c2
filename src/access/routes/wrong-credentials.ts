/** The answer to who presents wrong credentials or links too often. */

import type { HttpResponse } from '../../http/handler.ts';
import { problem } from '../../http/problem.ts';
import type { Failures } from '../failures.ts';
import type { Guessed } from '../guesses.ts';

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
