/** Where APNs is: in two places, one for each environment. */

import type { ApnsEnvironment } from '../../domain/credential.ts';

export interface ApnsOrigins {
  readonly apnsProduction: string;
  readonly apnsSandbox: string;
}

export const DEFAULT_APNS_ORIGINS: ApnsOrigins = Object.freeze({
  apnsProduction: 'https://api.push.apple.com',
  apnsSandbox: 'https://api.sandbox.push.apple.com',
});

/** Where pushes of an environment go. */
export const apnsOriginOf = (
  environment: ApnsEnvironment,
  { apnsProduction, apnsSandbox }: ApnsOrigins,
): string => (environment === 'production' ? apnsProduction : apnsSandbox);
