/** Checks a payload's rendered size before its push is accepted, when a `400` still helps. */

import { NIL } from 'uuid';
import type { PlatformId } from '../domain/device.ts';
import type { Message, Payload } from '../domain/notification.ts';
import type { PayloadFault } from '../domain/payload.ts';
import { TTL_SECONDS_MAX } from '../domain/payload.ts';
import { PROVIDERS } from './providers.ts';

/** One fault for each platform, and language, that the payload is too large for. */
export function payloadFaults(
  payload: Payload,
  platformIds: readonly PlatformId[],
): readonly PayloadFault[] {
  const faults: PayloadFault[] = [];
  for (const platformId of new Set(platformIds)) {
    const whole = excessOf(payload, platformId);
    if (whole !== null) faults.push({ path: 'payload', message: `${whole}.` });
    for (const { tagSourceId, payload: one } of payload.languages ?? []) {
      const excess = excessOf(one, platformId);
      if (excess === null) continue;
      const message = `${excess}, in the language of ${JSON.stringify(tagSourceId)}.`;
      faults.push({ path: 'payload', message });
    }
  }
  return faults;
}

function excessOf(payload: Payload, platformId: PlatformId): string | null {
  const { name, content, payloadBytesMax } = PROVIDERS[platformId];
  const bytes = Buffer.byteLength(content(longestMessage(payload), 0));
  return bytes <= payloadBytesMax
    ? null
    : `is ${bytes} bytes once rendered for platform ${platformId} (${name}); the limit is ${payloadBytesMax}`;
}

/** Id and expiry (a part of FCM's message) are not known yet: each is measured at its longest. */
const longestMessage = (payload: Payload): Message => ({
  notificationId: NIL,
  payload,
  dueAtMs: 0,
  expiresAtMs: TTL_SECONDS_MAX * 1_000,
});
