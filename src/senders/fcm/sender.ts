/** The sender of FCM: one credential's messages to Android devices. */

import type { FcmCredential } from '../../domain/credential.ts';
import { ProviderSender } from '../provider-sender.ts';
import type { Sender } from '../sender.ts';
import type { Transport } from '../transport.ts';
import { renderFcm } from './message.ts';

export const createFcmSender = (credential: FcmCredential, transport: Transport): Sender =>
  new ProviderSender(
    {
      render: (message) => renderFcm(message, credential, Date.now()),
      tokenOf: fcmToken,
    },
    transport,
  );

/** Any text can be a token; inside of a JSON string it is that text and nothing else. */
export const fcmToken = (deviceId: string): string =>
  NOTHING_TO_ESCAPE.test(deviceId) ? deviceId : JSON.stringify(deviceId).slice(1, -1);

/** What Google's tokens are made of; writing them as JSON would change nothing. */
const NOTHING_TO_ESCAPE = /^[\w:.-]+$/;
