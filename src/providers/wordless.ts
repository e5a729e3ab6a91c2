/**
 * A refusal that is not in the provider's own words. The send is tried again; it is a fault only
 * after several equal ones in a row (provider-health.ts).
 */

import type { Outcome } from '../domain/outcome.ts';
import type { Answer } from '../transport/transport.ts';

/**
 * A proxy either recovers soon or fails for long. Google's own front end names half a minute on its
 * pages.
 */
const WORDLESS_PAUSE_MS = 30_000;

export const wordless = ({ status, retryAfterMs }: Answer): Outcome => ({
  kind: 'unavailable',
  reason: `status ${status}`,
  retryAfterMs: retryAfterMs ?? WORDLESS_PAUSE_MS,
  isWordless: true,
  unfamiliarStatus: status,
});
