/**
 * Whom a client trusts and how it speaks TLS (RFC 9113, 9.2): the system's roots and those that
 * were added, 1.2 or later.
 */

import { constants } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import { createSecureContext, rootCertificates } from 'node:tls';
import { CappedMap } from '../../std/capped-map.ts';

/**
 * Reading 140 roots takes milliseconds, and every reconnect would pay them. A process trusts nobody
 * else, or one set of certificates.
 */
const CONTEXTS_MAX = 2;
const contexts = new CappedMap<string | null, SecureContext>({ sizeMax: CONTEXTS_MAX });

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
  contexts.set(ca, context);
  return context;
}
