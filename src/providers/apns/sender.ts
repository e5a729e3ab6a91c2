/** The sender of APNs: one credential's pushes to iOS devices. */

import type { DeviceToken } from '../../domain/device.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { RequestTemplate, Settle, Transport } from '../../transport/transport.ts';
import { ProviderSender } from '../provider-sender.ts';
import type { Sender } from '../sender.ts';
import type { ApnsCredential } from './credential.ts';
import { renderApns } from './message.ts';
import { TOKEN_DIGITS_MAX } from './settings.ts';

export const createApnsSender = (credential: ApnsCredential, transport: Transport): Sender =>
  new ApnsSender(
    {
      render: (message) => renderApns(message, credential, Date.now()),
      templateFor: (rendered) => rendered,
      tokenOf: (deviceId) => (isHexOctets(deviceId) ? deviceId : BAD_DEVICE_TOKEN),
    },
    transport,
  );

class ApnsSender extends ProviderSender<RequestTemplate> {
  override send(
    rendered: RequestTemplate,
    deviceId: DeviceToken,
    position: number,
    settle: Settle,
  ): void {
    super.send(rendered, deviceId, position, hasOwnTokens(rendered) ? unproven(settle) : settle);
  }
}

/** Apps get tokens of their own for these types: with a wrong one APNs refuses all. */
const hasOwnTokens = ({ lastingFields }: RequestTemplate): boolean =>
  lastingFields['apns-push-type'] !== 'alert' && lastingFields['apns-push-type'] !== 'background';

const unproven =
  (settle: Settle): Settle =>
  (position, outcome) =>
    settle(position, outcome.kind === 'bad-token' ? { ...outcome, isInconclusive: true } : outcome);

/** For every send: finding a forbidden character costs a fifth of matching pairs. */
const NOT_HEX = /[^0-9a-fA-F]/;

/** The token becomes part of the path: so it must be whole octets in hex, of limited length. */
export const isHexOctets = (deviceId: DeviceToken): boolean =>
  deviceId.length <= TOKEN_DIGITS_MAX &&
  (typeof deviceId !== 'string' ||
    (deviceId.length > 0 && deviceId.length % 2 === 0 && !NOT_HEX.test(deviceId)));

/** Apple's own reason for such a token, given without asking APNs. */
const BAD_DEVICE_TOKEN: Outcome = Object.freeze({
  kind: 'bad-token',
  reason: 'BadDeviceToken',
  isUnasked: true,
});
