/** The sender of APNs: one credential's pushes to iOS devices. */

import type { ApnsCredential } from '../../domain/credential.ts';
import type { DeviceToken } from '../../domain/device.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { Transport } from '../../transport/transport.ts';
import { ProviderSender } from '../provider-sender.ts';
import type { Sender } from '../sender.ts';
import { renderApns } from './message.ts';
import { TOKEN_DIGITS_MAX } from './settings.ts';

export const createApnsSender = (credential: ApnsCredential, transport: Transport): Sender =>
  new ProviderSender(
    {
      render: (message) => renderApns(message, credential, Date.now()),
      templateFor: (rendered) => rendered,
      tokenOf: (deviceId) => (isHexOctets(deviceId) ? deviceId : BAD_DEVICE_TOKEN),
    },
    transport,
  );

/**
 * Asked for every send that comes as a text: an expression that looks for what must not be there
 * costs a fifth of one that matches pairs.
 */
const NOT_HEX = /[^0-9a-fA-F]/;

/**
 * The token becomes part of the path: nothing but whole octets in hex may, and not any number of
 * them.
 */
const isHexOctets = (deviceId: DeviceToken): boolean =>
  deviceId.length <= TOKEN_DIGITS_MAX &&
  (typeof deviceId !== 'string' ||
    (deviceId.length > 0 && deviceId.length % 2 === 0 && !NOT_HEX.test(deviceId)));

/** Apple's own word for it, said without asking. */
const BAD_DEVICE_TOKEN: Outcome = Object.freeze({
  kind: 'bad-token',
  reason: 'BadDeviceToken',
  isUnasked: true,
});
