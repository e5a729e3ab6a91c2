/** Checks a payload's rendered size before its push is accepted, when a `400` still helps. */

import { NIL } from 'uuid';
import type { PlatformId } from '../domain/device.ts';
import type { Message, Payload } from '../domain/notification.ts';
import type { PayloadFault } from '../domain/payload.ts';
import { TTL_SECONDS_MAX } from '../domain/payload.ts';
import { PROVIDERS } from './providers.ts';

/** One fault for each platform that the payload is too large for. */
export function payloadFaults(
  payload: Payload,
  platformIds: readonly PlatformId[],
): readonly PayloadFault[] {
  const message = longestMessage(payload);
  const faults: PayloadFault[] = [];
  for (const platformId of new Set(platformIds)) {
    const provider = PROVIDERS[platformId];
    const bytes = Buffer.byteLength(provider.content(message, 0));
    if (bytes > provider.payloadBytesMax) {
      faults.push({
        path: 'payload',
        message: `is ${bytes} bytes once rendered for platform ${platformId} (${provider.name}); the limit is ${provider.payloadBytesMax}.`,
      });
    }
  }
  return faults;
}

/** Id and expiry (a part of FCM's message) are not known yet: each is measured at its longest. */
const longestMessage = (payload: Payload): Message => ({
  notificationId: NIL,
  payload,
  dueAtMs: 0,
  expiresAtMs: TTL_SECONDS_MAX * 1_000,
});
