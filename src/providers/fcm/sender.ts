/** The sender of FCM: one credential's messages to Android devices. */

import type { FcmCredential } from '../../domain/credential.ts';
import type { DeviceToken } from '../../domain/device.ts';
import type { Transport } from '../../transport/transport.ts';
import { ProviderSender } from '../provider-sender.ts';
import type { Sender } from '../sender.ts';
import { renderFcm } from './message.ts';
import type { FcmTarget } from './target.ts';
import { targetFieldOf } from './target.ts';

export const createFcmSender = (
  credential: FcmCredential,
  transport: Transport,
  target: FcmTarget,
): Sender =>
  new ProviderSender(
    {
      render: (message) => renderFcm(message, credential, Date.now()),
      templateFor: (rendered, deviceId) => rendered[targetFieldOf(deviceId, target)],
      tokenOf: fcmToken,
    },
    transport,
  );

/** Any text can be a token; inside of a JSON string it is that text and nothing else. */
export function fcmToken(deviceId: DeviceToken): string {
  const text = String(deviceId);
  return TO_BE_ESCAPED.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}

/**
 * Google's tokens are made of what JSON leaves as it is. Looking for anything else is several times
 * cheaper than matching all of it.
 */
const TO_BE_ESCAPED = /[^\w:.-]/;
