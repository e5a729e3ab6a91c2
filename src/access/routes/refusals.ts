/** Why somebody is refused before anybody has looked at his password, or for guessing. */

import type { Refusal } from '../../http/result.ts';
import { refused } from '../../http/result.ts';
import type { Unheard } from '../accounts/sign-in.ts';
import type { Failures } from '../failures.ts';
import type { Guessed } from '../guesses.ts';

/** The queue of passwords is through in a few seconds. */
const BUSY_RETRY_AFTER_SECONDS = '3';

const BUSY = refused(503, 'Too many passwords are being checked. Try again.', {
  headers: { 'Retry-After': BUSY_RETRY_AFTER_SECONDS },
});

/** 429 or 503: the password was not looked at. */
export function refuseUnheard(unheard: Unheard): Refusal {
  if (unheard.kind === 'busy') return BUSY;
  const seconds = Math.ceil(unheard.retryAfterMs / 1_000);
  return refused(
    429,
    `Too many passwords were tried from this address. Try again in ${seconds} s.`,
    { headers: { 'Retry-After': String(seconds) } },
  );
}

/** Counts a wrong credential or link. Null: the network has not presented too many. */
export function refuseGuesser(
  failures: Failures,
  { address }: { readonly address: string },
  what: Guessed,
): Refusal | null {
  const retryAfterMs = failures.noteAndAskRetryAfterMs(address, what);
  if (retryAfterMs === 0) return null;
  return refused(429, 'Too many wrong credentials came from this address.', {
    headers: { 'Retry-After': String(Math.ceil(retryAfterMs / 1_000)) },
  });
}
