/** Which push services of browsers may be sent to; the rest is as at FCM, where browsers' FCM tokens go. */

import type { FcmOrigins } from '../fcm/origins.ts';
import { DEFAULT_PUSH_HOSTS } from './allow-list.ts';

export interface WebPushOrigins extends FcmOrigins {
  /** Entries of the allow-list (allow-list.ts). */
  readonly webPushHosts: readonly string[];
}

export const DEFAULT_WEB_PUSH_ORIGINS: Pick<WebPushOrigins, 'webPushHosts'> = Object.freeze({
  webPushHosts: DEFAULT_PUSH_HOSTS,
});
