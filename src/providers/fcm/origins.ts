/** Where FCM is, and how it is told devices. */

import type { FcmTarget } from './target.ts';

export interface FcmOrigins {
  readonly fcm: string;
  /** Whether FCM is told devices by their installation's id or by their token. */
  readonly fcmTarget: FcmTarget;
  /** Google's issuer of access tokens; the token request goes to `/token` there. */
  readonly oauth: string;
}

export const DEFAULT_FCM_ORIGINS: FcmOrigins = Object.freeze({
  fcm: 'https://fcm.googleapis.com',
  fcmTarget: 'auto',
  oauth: 'https://oauth2.googleapis.com',
});
