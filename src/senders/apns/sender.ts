/** The sender of APNs: one credential's pushes to iOS devices. */

import type { ApnsCredential } from '../../domain/credential.ts';
import type { Outcome } from '../../domain/outcome.ts';
import { ProviderSender } from '../provider-sender.ts';
import type { Sender } from '../sender.ts';
import type { Transport } from '../transport.ts';
import { renderApns } from './message.ts';

export const createApnsSender = (credential: ApnsCredential, transport: Transport): Sender =>
  new ProviderSender(
    {
      render: (message) => renderApns(message, credential, Date.now()),
      tokenOf: (deviceId) => (HEX_BYTES.test(deviceId) ? deviceId : BAD_DEVICE_TOKEN),
    },
    transport,
  );

/** The token becomes part of the path: nothing but whole bytes in hex may. Apple sets no length. */
const HEX_BYTES = /^(?:[0-9a-fA-F]{2})+$/;

/** Apple's own word for it, said without asking. */
const BAD_DEVICE_TOKEN: Outcome = Object.freeze({
  kind: 'bad-token',
  reason: 'BadDeviceToken',
  isUnasked: true,
});
