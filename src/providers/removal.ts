/** The message by which the app of each platform removes an alert that is shown (decision 77). */

import type { PlatformId } from '../../packages/std/src/platforms.ts';
import { PLATFORMS } from '../../packages/std/src/platforms.ts';
import type { Payload } from '../domain/notification.ts';

/** Shows nothing: the app reads what the message names. */
export const SILENT: Payload = { silent: true, data: {} };

interface Removal {
  readonly how: 'background' | 'data';
  readonly payload: Payload;
}

/** Null: a message must show something there. */
export function removalOn(platformId: PlatformId): Removal | null {
  switch (platformId) {
    case PLATFORMS.apns:
      return { how: 'background', payload: SILENT };
    // Android delays data of normal priority while it sleeps.
    case PLATFORMS.fcm:
      return { how: 'data', payload: { ...SILENT, priority: 'high' } };
    case PLATFORMS.webpush:
      return null;
  }
}
