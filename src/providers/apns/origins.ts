/** The two addresses of APNs, one for each environment. */

import type { ApnsEnvironment } from '../../domain/device.ts';
import type { SettingsOf } from '../../std/setting-forms.ts';
import type { Site } from '../site.ts';
import type { APNS_SETTINGS } from './operator-settings.ts';

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
