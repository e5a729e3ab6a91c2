/**
 * A refusal that is not in the provider's own words. The send is tried again; it is a fault only
 * after several equal ones in a row (circuit-breaker.ts).
 */

import type { Outcome } from '../domain/outcome.ts';
import type { Answer } from '../transport/transport.ts';

/**
 * A proxy recovers soon, or fails for long. Pages of Google's front end name half a minute.
 * @limit pause after a refusal without the provider's own words → tried again
 */
const WORDLESS_PAUSE_MS = 30_000;

export const wordless = ({ status, retryAfterMs }: Answer): Outcome => ({
  kind: 'unavailable',
  reason: `status ${status}`,
  retryAfterMs: retryAfterMs ?? WORDLESS_PAUSE_MS,
  isWordless: true,
  unfamiliarStatus: status,
});
