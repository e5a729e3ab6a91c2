/** Where the providers are, and how they are spoken to: an operator's setting, never a tenant's. Plain data, so that it crosses to worker threads. */

import type { ApnsOrigins } from './apns/origins.ts';
import { DEFAULT_APNS_ORIGINS } from './apns/origins.ts';
import type { FcmOrigins } from './fcm/origins.ts';
import { DEFAULT_FCM_ORIGINS } from './fcm/origins.ts';
import { AllowList, DEFAULT_PUSH_HOSTS } from './webpush/allow-list.ts';
import type { WebPushOrigins } from './webpush/origins.ts';
import { DEFAULT_WEB_PUSH_ORIGINS } from './webpush/origins.ts';

export interface ProviderOrigins extends ApnsOrigins, FcmOrigins, WebPushOrigins {
  /** PEM certificates trusted, besides the system's, where `trustedAt` says so. */
  readonly ca: string | null;
  /** Whether a simulator stands behind these origins: status rows say so. */
  readonly simulated: { readonly apns: boolean; readonly fcm: boolean; readonly webPush: boolean };
}

/** The real ones. */
export const DEFAULT_ORIGINS: ProviderOrigins = Object.freeze({
  ...DEFAULT_APNS_ORIGINS,
  ...DEFAULT_FCM_ORIGINS,
  ...DEFAULT_WEB_PUSH_ORIGINS,
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
