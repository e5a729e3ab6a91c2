/** Why a `fetch` got no answer: in words, where TLS is at fault, else its code. */

import { errorReason } from '../../packages/std/src/error-reason.ts';
import { isCertificateRefused, TRUST_BY_NODE, tlsFault } from '../std/tls-fault.ts';

const ADVICE = { trust: TRUST_BY_NODE, plain: 'begin its address with http://' };

/** The `fetch` of Node.js says why in the cause of its error. */
const causeOf = (error: unknown): unknown =>
  error instanceof Error ? (error.cause ?? error) : error;

/** Whether the request was not sent, and waiting does not help: the certificate is refused. */
export const isNeverSent = (error: unknown): boolean => isCertificateRefused(causeOf(error));

export function whyUnanswered(error: unknown): string {
  const cause = causeOf(error);
  const words = tlsFault(cause, ADVICE);
  return words === null ? errorReason(cause) : `${words} (${errorReason(cause)})`;
}
