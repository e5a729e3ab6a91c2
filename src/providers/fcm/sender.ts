/** The sender of FCM: one credential's messages to Android devices. */

import type { DeviceToken } from '../../domain/device.ts';
import type { Transport } from '../../transport/transport.ts';
import { ProviderSender } from '../provider-sender.ts';
import type { Sender } from '../sender.ts';
import type { FcmCredential } from './credential.ts';
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

/** Escapes a token for a JSON string: any text can be a token, and stays that text. */
export function fcmToken(deviceId: DeviceToken): string {
  const text = String(deviceId);
  return TO_BE_ESCAPED.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}

/** Google's own tokens have nothing else: others are sent, and refused by FCM. */
export const fcmTokenFault = (deviceId: string): string | null =>
  TO_BE_ESCAPED.test(deviceId)
    ? 'must be a token of FCM: letters, digits, and the characters - _ : .'
    : null;

/** None in Google's tokens; to look for one is several times cheaper than to match the token. */
const TO_BE_ESCAPED = /[^\w:.-]/;
