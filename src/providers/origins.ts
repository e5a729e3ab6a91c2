/** The addresses of the providers and settings for them: the operator's, never a client's. */

import type { PlatformId } from '../../packages/std/src/platforms.ts';
import { PLATFORMS } from '../../packages/std/src/platforms.ts';
import { PLATFORM_IDS } from '../domain/device.ts';
import type { SettingsOf } from '../std/setting-forms.ts';
import type { ApnsOrigins } from './apns/origins.ts';
import { APNS_SITE } from './apns/origins.ts';
import type { FcmOrigins } from './fcm/origins.ts';
import { FCM_SITE } from './fcm/origins.ts';
import type { PROVIDER_SETTINGS } from './operator-settings.ts';
import type { Site } from './site.ts';
import type { WebPushOrigins } from './webpush/origins.ts';
import { WEB_PUSH_SITE } from './webpush/origins.ts';

type ProviderSettings = SettingsOf<typeof PROVIDER_SETTINGS>;

interface SimulatedOrigins {
  readonly apnsOrigin: string;
  readonly fcmOrigin: string;
  readonly oauthOrigin: string;
  readonly webPushOrigin: string;
}

export interface ProviderOrigins extends ApnsOrigins, FcmOrigins, WebPushOrigins {
  /** PEM certificates that are trusted besides the system's, at origins that `trustedAt` allows. */
  readonly ca: string | null;
  /** Platforms whose provider is a simulator: `status` marks their rows. */
  readonly simulated: readonly PlatformId[];
}

const SITES: Readonly<Record<PlatformId, Site<ProviderSettings, SimulatedOrigins, object>>> = {
  [PLATFORMS.apns]: APNS_SITE,
  [PLATFORMS.webpush]: WEB_PUSH_SITE,
  [PLATFORMS.fcm]: FCM_SITE,
};

/** The origins: the operator's, else the simulator's, if there is one, else the real ones. */
export const originsOf = (
  settings: ProviderSettings,
  simulator: SimulatedOrigins | null,
  ca: string | null,
): ProviderOrigins => ({
  ...APNS_SITE.originsOf(settings, simulator),
  ...FCM_SITE.originsOf(settings, simulator),
  ...WEB_PUSH_SITE.originsOf(settings, simulator),
  ca,
  simulated: simulator === null ? [] : PLATFORM_IDS.filter((id) => !SITES[id].isPlaced(settings)),
});

/** Platforms of which something goes to the provider itself, and to no simulator. */
export const realPlatforms = (
  settings: ProviderSettings,
  simulator: SimulatedOrigins | null,
): readonly PlatformId[] =>
  PLATFORM_IDS.filter((id) => {
    const origins = Object.values(SITES[id].originsOf(settings, simulator));
    return origins.some((origin) => typeof origin === 'string' && SITES[id].isReal(origin));
  });

/** The certificates trusted at an origin besides the system's; none at the real providers. */
export const trustedAt = (origin: string, { ca }: Pick<ProviderOrigins, 'ca'>): string | null =>
  Object.values(SITES).some(({ isReal }) => isReal(origin)) ? null : ca;
