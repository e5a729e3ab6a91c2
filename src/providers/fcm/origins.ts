/** The address of FCM, how devices are named to it, and the operator's settings for it. */

import { z } from 'zod';
import type { SettingsOf } from '../../std/setting-forms.ts';
import { count, origin } from '../../std/setting-forms.ts';
import type { Site } from '../site.ts';
import { GOOGLE_MESSAGES_PER_MINUTE } from './settings.ts';
import type { FcmTarget } from './target.ts';
import { FCM_TARGETS } from './target.ts';

export const FCM_SETTINGS = {
  FCM_ORIGIN: origin
    .optional()
    .describe('Address of FCM. Default: https://fcm.googleapis.com; the simulator when it runs.'),
  FCM_TARGET: z
    .enum(FCM_TARGETS, { error: 'must be auto, token or fid' })
    .default('auto')
    .describe(
      'How a device is named to FCM: auto names an installation id (22 characters, no colon) as fid and anything else as token; token or fid names every device as that.',
    ),
  FCM_MESSAGES_PER_MINUTE: count(0, 1_000_000_000)
    .refine((perMinute) => perMinute === 0 || perMinute >= 60, 'must be 0 or at least 60')
    .optional()
    .describe(
      'Messages a minute that one Firebase project may send, over all nodes; 0: no limit. Default: 600000 with Google, as its own quota; none where FCM_ORIGIN or the simulator stands in.',
    ),
  OAUTH_ORIGIN: origin
    .optional()
    .describe(
      'Address at which Google issues access tokens. Default: https://oauth2.googleapis.com; the simulator when it runs.',
    ),
};

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
