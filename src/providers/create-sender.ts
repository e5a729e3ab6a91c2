/** Makes the sender of a credential of any provider, on the transport that this process uses. */

import { dial as dialCompat } from '../transport/compat/dial.ts';
import { dial as dialHttp2 } from '../transport/http2/dial.ts';
import type { Dial } from '../transport/provider-connection.ts';
import { ProviderTransport } from '../transport/provider-transport.ts';
import type { TransportLimits, TransportName } from '../transport/transport.ts';
import type { TransportMeter } from '../transport/transport-meter.ts';
import type { ProviderOrigins } from './origins.ts';
import { trustedAt } from './origins.ts';
import type { ProviderCredential } from './providers.ts';
import { providerOf } from './providers.ts';
import type { Sender } from './sender.ts';

export interface SenderOptions {
  readonly origins: ProviderOrigins;
  readonly transport: TransportName;
  /** The first value; `authorize` brings later ones. */
  readonly authorization: string;
  /** Replace single limits: by the operator's, or by those of tests, which cannot wait. */
  readonly limits?: Partial<TransportLimits>;
  readonly meter?: TransportMeter | undefined;
}

const DIALS: Readonly<Record<TransportName, Dial>> = { http2: dialHttp2, compat: dialCompat };

/** Makes a sender. It connects at its first `whenReady`. */
export function createSender(credential: ProviderCredential, options: SenderOptions): Sender {
  const { origins, transport, authorization, limits = {}, meter } = options;
  return providerOf(credential).createSender(credential, {
    origins,
    authorization,
    limits,
    makeTransport: (parts) =>
      new ProviderTransport(DIALS[transport], {
        ...parts,
        ca: trustedAt(parts.origin, origins),
        meter,
      }),
  });
}
