/** Where APNs is, in two places, one for each environment, and how it is treated. */

import type { ApnsEnvironment } from '../../domain/credential.ts';
import { APNS_RETRY_MS_DEFAULT } from './settings.ts';

export interface ApnsOrigins {
  readonly apnsProduction: string;
  readonly apnsSandbox: string;
  /** Before the first retry of a push that APNs answered with 5xx. */
  readonly apnsRetryMs: number;
}

export const DEFAULT_APNS_ORIGINS: ApnsOrigins = Object.freeze({
  apnsProduction: 'https://api.push.apple.com',
  apnsSandbox: 'https://api.sandbox.push.apple.com',
  apnsRetryMs: APNS_RETRY_MS_DEFAULT,
});

/** Where pushes of an environment go. */
export const apnsOriginOf = (
  environment: ApnsEnvironment,
  { apnsProduction, apnsSandbox }: Pick<ApnsOrigins, 'apnsProduction' | 'apnsSandbox'>,
): string => (environment === 'production' ? apnsProduction : apnsSandbox);
