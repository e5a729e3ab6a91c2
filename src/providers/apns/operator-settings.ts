/** The operator's settings for APNs, in the environment. */

import { count, origin } from '../../std/setting-forms.ts';
import { APNS_RETRY_MS_DEFAULT } from './settings.ts';

export const APNS_SETTINGS = {
  APNS_ORIGIN: origin
    .optional()
    .describe(
      'Address of APNs. Default: by the environment of each credential; the simulator when it runs.',
    ),
  APNS_RETRY_MS: count(1_000, 3_600_000)
    .default(APNS_RETRY_MS_DEFAULT)
    .describe(
      'How long a push waits after APNs answered it with 5xx, in milliseconds; doubles with each attempt. Apple asks for 15 minutes.',
    ),
};
