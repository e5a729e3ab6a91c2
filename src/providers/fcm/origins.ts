/** The address of FCM, and how devices are named to it. */

import type { SettingsOf } from '../../std/setting-forms.ts';
import type { Site } from '../site.ts';
import type { FCM_SETTINGS } from './operator-settings.ts';
import { GOOGLE_MESSAGES_PER_MINUTE } from './settings.ts';
import type { FcmTarget } from './target.ts';

export interface FcmOrigins {
  readonly fcm: string;
  readonly fcmTarget: FcmTarget;
  /** Messages per minute of one project, over all nodes; 0: no limit. */
  readonly fcmPerMinute: number;
  /** Google's issuer of access tokens; the token request goes to `/token` there. */
  readonly oauth: string;
}

const GOOGLE = 'https://fcm.googleapis.com';
const GOOGLE_OAUTH = 'https://oauth2.googleapis.com';

export const FCM_SITE: Site<
  SettingsOf<typeof FCM_SETTINGS>,
  { readonly fcmOrigin: string; readonly oauthOrigin: string },
  FcmOrigins
> = {
  isPlaced: ({ FCM_ORIGIN }) => FCM_ORIGIN !== undefined,
  isReal: (origin) => origin === GOOGLE || origin === GOOGLE_OAUTH,
  originsOf({ FCM_ORIGIN, FCM_TARGET, FCM_MESSAGES_PER_MINUTE, OAUTH_ORIGIN }, simulator) {
    const fcm = FCM_ORIGIN ?? simulator?.fcmOrigin ?? GOOGLE;
    return {
      fcm,
      fcmTarget: FCM_TARGET,
      // A stand-in for Google has only the quota that the operator sets.
      fcmPerMinute: FCM_MESSAGES_PER_MINUTE ?? (fcm === GOOGLE ? GOOGLE_MESSAGES_PER_MINUTE : 0),
      oauth: OAUTH_ORIGIN ?? simulator?.oauthOrigin ?? GOOGLE_OAUTH,
    };
  },
};
