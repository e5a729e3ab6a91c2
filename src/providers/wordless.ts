/** Refusals not in the provider's words: faults after several in a row (circuit-breaker.ts). */

import type { Outcome } from '../domain/outcome.ts';
import type { Answer } from '../transport/transport.ts';

/**
 * A proxy recovers soon, or fails for long.
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
