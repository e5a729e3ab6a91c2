/** Whom a client trusts and how it speaks TLS (RFC 9113, 9.2): the system's roots and those that were added, 1.2 or later. */

import { constants } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import { createSecureContext, rootCertificates } from 'node:tls';

/** Reading 140 roots takes milliseconds, and every reconnect would pay them. A process trusts nobody else, or one set of certificates. */
const contexts = new Map<string | null, SecureContext>();
const CONTEXTS_MAX = 2;

/** The TLS context of a client. `ca` (PEM) adds to the roots, it does not replace them. */
export function trustOf(ca: string | null): SecureContext {
  const known = contexts.get(ca);
  if (known !== undefined) return known;
  const context = createSecureContext({
    minVersion: 'TLSv1.2',
    // 9.2.1: renegotiation is an error.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ...(ca === null ? {} : { ca: [...rootCertificates, ca] }),
  });
  if (contexts.size >= CONTEXTS_MAX) contexts.clear();
  contexts.set(ca, context);
  return context;
}
