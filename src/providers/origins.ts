/** Where the providers are, and how they are spoken to: an operator's setting, never a tenant's. Plain data, so that it crosses to worker threads. */

import type { FcmTarget } from './fcm/target.ts';
import { AllowList, DEFAULT_PUSH_HOSTS } from './webpush/allow-list.ts';

export interface ProviderOrigins {
  readonly apnsProduction: string;
  readonly apnsSandbox: string;
  readonly fcm: string;
  /** Whether FCM is told devices by their installation's id or by their token. */
  readonly fcmTarget: FcmTarget;
  /** Google's issuer of access tokens; the token request goes to `/token` there. */
  readonly oauth: string;
  /** Push services of browsers that may be sent to: entries of the allow-list (webpush/allow-list.ts). */
  readonly webPushHosts: readonly string[];
  /** PEM certificates trusted, besides the system's, where `trustedAt` says so. */
  readonly ca: string | null;
  /** Whether a simulator stands behind these origins: status rows say so. */
  readonly simulated: { readonly apns: boolean; readonly fcm: boolean; readonly webPush: boolean };
}

/** The real ones. */
export const DEFAULT_ORIGINS: ProviderOrigins = Object.freeze({
  apnsProduction: 'https://api.push.apple.com',
  apnsSandbox: 'https://api.sandbox.push.apple.com',
  fcm: 'https://fcm.googleapis.com',
  fcmTarget: 'auto',
  oauth: 'https://oauth2.googleapis.com',
  webPushHosts: DEFAULT_PUSH_HOSTS,
  ca: null,
  simulated: Object.freeze({ apns: false, fcm: false, webPush: false }),
});

/** The certificates that are trusted at an origin besides the system's: at those of the providers themselves, none. */
export const trustedAt = (origin: string, { ca }: Pick<ProviderOrigins, 'ca'>): string | null =>
  REAL_ORIGINS.has(origin) || REAL_PUSH_HOSTS.admissionOf(origin) !== 'no' ? null : ca;

const REAL_ORIGINS: ReadonlySet<string> = new Set([
  DEFAULT_ORIGINS.apnsProduction,
  DEFAULT_ORIGINS.apnsSandbox,
  DEFAULT_ORIGINS.fcm,
  DEFAULT_ORIGINS.oauth,
]);
const REAL_PUSH_HOSTS = new AllowList(DEFAULT_PUSH_HOSTS);
