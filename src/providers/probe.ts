/** Asks a provider whether it accepts a credential, with a push for a device that cannot exist. */

import type { Outcome } from '../domain/outcome.ts';
import { post } from '../transport/compat/post.ts';
import type { ProviderOrigins } from './origins.ts';
import { trustedAt } from './origins.ts';
import type { ProviderCredential } from './providers.ts';
import { providerOf } from './providers.ts';

/** @limit one check → the next run */
const PROBE_TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 16_384;

/** The outcome of the push for no device. Null: no provider can be asked. */
export async function probe(
  credential: ProviderCredential,
  authorization: string,
  origins: ProviderOrigins,
): Promise<Outcome | null> {
  const question = providerOf(credential).probe(credential, authorization, origins);
  if (question === null) return null;
  const { request, outcomeOf } = question;
  const posted = await post({
    ...request,
    ca: trustedAt(request.origin, origins),
    timeoutMs: PROBE_TIMEOUT_MS,
    bodyBytesMax: ANSWER_BYTES_MAX,
  });
  if (!posted.ok) return { kind: 'unknown', reason: posted.reason };
  return outcomeOf({ status: posted.status, body: posted.body, retryAfterMs: null });
}
