/** The two addresses of APNs, one for each environment, and the operator's settings for it. */

import type { ApnsEnvironment } from '../../domain/device.ts';
import type { SettingsOf } from '../../std/setting-forms.ts';
import { count, origin } from '../../std/setting-forms.ts';
import type { Site } from '../site.ts';
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

export interface ApnsOrigins {
  readonly apnsProduction: string;
  readonly apnsSandbox: string;
  /** The wait before the first retry of a push that APNs answered with 5xx. */
  readonly apnsRetryMs: number;
}

const PRODUCTION = 'https://api.push.apple.com';
const SANDBOX = 'https://api.sandbox.push.apple.com';

export const APNS_SITE: Site<
  SettingsOf<typeof APNS_SETTINGS>,
  { readonly apnsOrigin: string },
  ApnsOrigins
> = {
  isPlaced: ({ APNS_ORIGIN }) => APNS_ORIGIN !== undefined,
  isReal: (origin) => origin === PRODUCTION || origin === SANDBOX,
  originsOf({ APNS_ORIGIN, APNS_RETRY_MS }, simulator) {
    const placed = APNS_ORIGIN ?? simulator?.apnsOrigin;
    return {
      apnsProduction: placed ?? PRODUCTION,
      apnsSandbox: placed ?? SANDBOX,
      apnsRetryMs: APNS_RETRY_MS,
    };
  },
};

export const apnsOriginOf = (
  environment: ApnsEnvironment,
  { apnsProduction, apnsSandbox }: Pick<ApnsOrigins, 'apnsProduction' | 'apnsSandbox'>,
): string => (environment === 'production' ? apnsProduction : apnsSandbox);
