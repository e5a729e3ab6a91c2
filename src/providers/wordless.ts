/**
 * A refusal that is not in the provider's own words: tried again, and a fault only when many in a
 * row say the same (provider-health.ts).
 */

import type { Outcome } from '../domain/outcome.ts';
import type { Answer } from '../transport/transport.ts';

/**
 * A proxy's trouble is over soon, or lasts; Google's own front end names half a minute for its
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
