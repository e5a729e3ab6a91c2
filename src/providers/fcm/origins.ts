/** Where FCM is, and how it is told devices. */

import { GOOGLE_MESSAGES_PER_MINUTE } from './settings.ts';
import type { FcmTarget } from './target.ts';

export interface FcmOrigins {
  readonly fcm: string;
  /** Whether FCM is told devices by their installation's id or by their token. */
  readonly fcmTarget: FcmTarget;
  /** Google's issuer of access tokens; the token request goes to `/token` there. */
  readonly oauth: string;
  /** Messages a minute of one project, over all nodes; 0: no limit. */
  readonly fcmPerMinute: number;
}

export const DEFAULT_FCM_ORIGINS: FcmOrigins = Object.freeze({
  fcm: 'https://fcm.googleapis.com',
  fcmTarget: 'auto',
  oauth: 'https://oauth2.googleapis.com',
  fcmPerMinute: GOOGLE_MESSAGES_PER_MINUTE,
});
