/**
 * The certificates that a client trusts, Node's roots and added ones, and its TLS version: 1.2 or
 * later (RFC 9113, 9.2).
 */

import { constants } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import { createSecureContext, rootCertificates } from 'node:tls';
import { CappedMap } from '../../../std/src/capped-map.ts';

/**
 * Contexts are kept: reading 140 roots takes milliseconds, which every reconnect would pay. A
 * process uses the roots alone, and perhaps one set of added certificates.
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
