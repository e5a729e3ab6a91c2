/** Why a `fetch` got no answer: in words, where TLS is at fault, else its code. */

import { errorReason } from '../../packages/std/src/error-reason.ts';
import { TRUST_BY_NODE, tlsFault } from '../std/tls-fault.ts';

const ADVICE = { trust: TRUST_BY_NODE, plain: 'begin its address with http://' };

/** The `fetch` of Node.js says why in the cause of its error. */
export function whyUnanswered(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const words = tlsFault(cause, ADVICE);
  return words === null ? errorReason(cause) : `${words} (${errorReason(cause)})`;
}
