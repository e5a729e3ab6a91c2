/** Whether a payload fits each provider once rendered: asked before a push is accepted, when a `400` still helps. */

import { NIL } from 'uuid';
import type { PlatformId } from '../domain/device.ts';
import { PLATFORM_APNS, PLATFORM_FCM, PLATFORM_WEB_PUSH } from '../domain/device.ts';
import type { Message, Payload } from '../domain/notification.ts';
import type { PayloadFault } from '../domain/payload.ts';
import { TTL_SECONDS_MAX } from '../domain/payload.ts';
import { apnsPayloadBytes } from './apns/message.ts';
import { APNS_PAYLOAD_BYTES_MAX } from './apns/settings.ts';
import { fcmPayloadBytes } from './fcm/message.ts';
import { FCM_PAYLOAD_BYTES_MAX } from './fcm/settings.ts';
import { webPushPayloadBytes } from './webpush/message.ts';
import { WEB_PUSH_PAYLOAD_BYTES_MAX } from './webpush/settings.ts';

/** One fault for each platform that the payload is too large for. */
export function payloadFaults(
  payload: Payload,
  platformIds: readonly PlatformId[],
): readonly PayloadFault[] {
  const faults: PayloadFault[] = [];
  for (const platformId of new Set(platformIds)) {
    const size = sizeOn(platformId, payload);
    if (size.bytes > size.bytesMax) {
      faults.push({
        path: 'payload',
        message: `is ${size.bytes} bytes once rendered for platform ${platformId} (${size.provider}); the limit is ${size.bytesMax}.`,
      });
    }
  }
  return faults;
}

interface Size {
  readonly provider: string;
  readonly bytes: number;
  readonly bytesMax: number;
}

function sizeOn(platformId: PlatformId, payload: Payload): Size {
  const message = longestMessage(payload);
  switch (platformId) {
    case PLATFORM_APNS:
      return {
        provider: 'APNs',
        bytes: apnsPayloadBytes(message),
        bytesMax: APNS_PAYLOAD_BYTES_MAX,
      };
    case PLATFORM_FCM:
      return {
        provider: 'FCM',
        bytes: fcmPayloadBytes(message, 0),
        bytesMax: FCM_PAYLOAD_BYTES_MAX,
      };
    case PLATFORM_WEB_PUSH:
      return {
        provider: 'Web Push',
        bytes: webPushPayloadBytes(message),
        bytesMax: WEB_PUSH_PAYLOAD_BYTES_MAX,
      };
  }
}

/** Neither the id nor the expiry (it is in FCM's message) is known yet: what counts is the longest that each can be written. */
const longestMessage = (payload: Payload): Message => ({
  notificationId: NIL,
  payload,
  dueAtMs: 0,
  expiresAtMs: TTL_SECONDS_MAX * 1_000,
});
