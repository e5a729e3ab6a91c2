/** The operator's settings for FCM, in the environment. */

import { z } from 'zod';
import { count, origin } from '../../std/setting-forms.ts';
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
