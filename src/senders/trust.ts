/** Which certificates a provider's origin may show: the system's roots, and those the operator added for these origins. */

import type { SecureContext } from 'node:tls';
import { createSecureContext, rootCertificates } from 'node:tls';

/** Reading 140 roots takes milliseconds, and every reconnect would pay them. A process has one set of origins. */
let last: { readonly ca: string | null; readonly context: SecureContext } | null = null;

/** The TLS context for provider origins. `ca` adds to the roots, it does not replace them. */
export function trustOf(ca: string | null): SecureContext {
  if (last === null || last.ca !== ca) {
    const context = createSecureContext(ca === null ? {} : { ca: [...rootCertificates, ca] });
    last = { ca, context };
  }
  return last.context;
}
