/** Checks a payload for its platforms before the push is accepted, when a `400` still helps. */

import { NIL } from 'uuid';
import type { PlatformId } from '../../packages/std/src/platforms.ts';
import type { Correction, Message, Payload } from '../domain/notification.ts';
import { nameOfLanguage } from '../domain/notification.ts';
import type { PayloadFault } from '../domain/payload.ts';
import { TTL_SECONDS_MAX } from '../domain/payload-bounds.ts';
import { PROVIDERS } from './providers.ts';

/**
 * Faults of a payload by its providers' bounds; one for each language that is too large.
 * `correction`: what its job does to an earlier one. Null: nothing.
 */
export function payloadFaults(
  payload: Payload,
  platformIds: readonly PlatformId[],
  correction: Correction | null = null,
): readonly PayloadFault[] {
  const faults: PayloadFault[] = [];
  for (const platformId of new Set(platformIds)) {
    const known = new Set(faults.map(({ path }) => path));
    faults.push(...PROVIDERS[platformId].faults(payload).filter(({ path }) => !known.has(path)));
    const whole = excessOf(payload, platformId, correction);
    if (whole !== null) faults.push({ path: 'payload', message: `${whole}.` });
    for (const one of payload.languages ?? []) {
      const excess = excessOf(one.payload, platformId, correction);
      if (excess === null) continue;
      const message = `${excess}, in the language of ${JSON.stringify(nameOfLanguage(one))}.`;
      faults.push({ path: 'payload', message });
    }
  }
  return faults;
}

/**
 * Whether its message goes without the identity that it could be replaced by, since it is too large
 * with that (identity.ts).
 */
export function losesIdentity(payload: Payload, platformId: PlatformId): boolean {
  const { content } = PROVIDERS[platformId];
  const wanted = { ...payload, present: { ...payload.present, replaceable: true } };
  return content(longestMessage(payload, null), 0) !== content(longestMessage(wanted, null), 0);
}

function excessOf(
  payload: Payload,
  platformId: PlatformId,
  correction: Correction | null,
): string | null {
  const { name, content, payloadBytesMax } = PROVIDERS[platformId];
  const bytes = Buffer.byteLength(content(longestMessage(payload, correction), 0));
  const bytesMax = payloadBytesMax(payload);
  return bytes <= bytesMax
    ? null
    : `is ${bytes} bytes once rendered for platform ${platformId} (${name}); the limit is ${bytesMax}`;
}

/** Id and expiry are not known yet: each is measured at its longest. */
const longestMessage = (payload: Payload, correction: Correction | null): Message => ({
  notificationId: NIL,
  payload,
  dueAtMs: 0,
  expiresAtMs: TTL_SECONDS_MAX * 1_000,
  ...(correction === 'correct' ? { replaces: NIL } : {}),
  ...(correction === 'retract' ? { retracts: NIL } : {}),
});
