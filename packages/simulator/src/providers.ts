/** The providers that the simulator plays: the only file that lists them all. */

import type { ApnsOrigins } from './apns/provider.ts';
import { APNS } from './apns/provider.ts';
import type { FcmOrigins } from './fcm/provider.ts';
import { FCM } from './fcm/provider.ts';
import type { SimulatedProvider } from './simulated-provider.ts';
import type { WebPushOrigins } from './webpush/provider.ts';
import { WEB_PUSH } from './webpush/provider.ts';

/** The providers, keyed by their names in the paths of the control endpoint. */
export const SIMULATED_PROVIDERS = {
  apns: APNS,
  fcm: FCM,
  webpush: WEB_PUSH,
} as const satisfies Readonly<Record<string, SimulatedProvider>>;

export type SimulatedProviderName = keyof typeof SIMULATED_PROVIDERS;

export const SIMULATED_PROVIDER_NAMES = Object.keys(
  SIMULATED_PROVIDERS,
) as readonly SimulatedProviderName[];

/** `https://host:port`, without a slash at the end, as operator settings take them. */
export interface SimulatedOrigins extends ApnsOrigins, FcmOrigins, WebPushOrigins {}

/** `originOf`: of the listener of a provider. */
export const originsAt = (originOf: (name: SimulatedProviderName) => string): SimulatedOrigins => ({
  ...APNS.originsOf(originOf('apns')),
  ...FCM.originsOf(originOf('fcm')),
  ...WEB_PUSH.originsOf(originOf('webpush')),
});

export const byProvider = <T>(
  of: (name: SimulatedProviderName) => T,
): Readonly<Record<SimulatedProviderName, T>> =>
  Object.fromEntries(SIMULATED_PROVIDER_NAMES.map((name) => [name, of(name)])) as Record<
    SimulatedProviderName,
    T
  >;
