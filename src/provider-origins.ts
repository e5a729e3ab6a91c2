/** Which providers this process sends to: the operator's settings, else the simulator beside it, else the real ones. */

import { readFileSync } from 'node:fs';
import type { Config } from './config.ts';
import type { ProviderOrigins } from './providers/origins.ts';
import { DEFAULT_ORIGINS } from './providers/origins.ts';
import type { Simulator } from './simulator/simulator.ts';

type OriginSettings = Pick<
  Config,
  | 'APNS_ORIGIN'
  | 'APNS_RETRY_MS'
  | 'FCM_MESSAGES_PER_MINUTE'
  | 'FCM_ORIGIN'
  | 'FCM_TARGET'
  | 'OAUTH_ORIGIN'
  | 'WEB_PUSH_HOSTS'
  | 'PROVIDER_CA_FILE'
>;

/** `simulator` is null when none runs in this process. */
export function providerOrigins(
  settings: OriginSettings,
  simulator: Simulator | null,
): ProviderOrigins {
  const { APNS_ORIGIN, FCM_ORIGIN, OAUTH_ORIGIN, WEB_PUSH_HOSTS, PROVIDER_CA_FILE } = settings;
  const fcm = FCM_ORIGIN ?? simulator?.fcmOrigin ?? DEFAULT_ORIGINS.fcm;
  const apns = APNS_ORIGIN ?? simulator?.apnsOrigin;
  const certificates = [
    ...(PROVIDER_CA_FILE === undefined ? [] : [readFileSync(PROVIDER_CA_FILE, 'utf8')]),
    ...(simulator === null ? [] : [simulator.certificatePem]),
  ];
  return {
    apnsProduction: apns ?? DEFAULT_ORIGINS.apnsProduction,
    apnsSandbox: apns ?? DEFAULT_ORIGINS.apnsSandbox,
    apnsRetryMs: settings.APNS_RETRY_MS,
    fcm,
    fcmTarget: settings.FCM_TARGET,
    // What stands in for Google has no quota but the one that the operator sets.
    fcmPerMinute:
      settings.FCM_MESSAGES_PER_MINUTE ??
      (fcm === DEFAULT_ORIGINS.fcm ? DEFAULT_ORIGINS.fcmPerMinute : 0),
    oauth: OAUTH_ORIGIN ?? simulator?.oauthOrigin ?? DEFAULT_ORIGINS.oauth,
    webPushHosts: WEB_PUSH_HOSTS ?? simulatedHosts(simulator) ?? DEFAULT_ORIGINS.webPushHosts,
    ca: certificates.length === 0 ? null : certificates.join('\n'),
    simulated: {
      apns: simulator !== null && APNS_ORIGIN === undefined,
      fcm: simulator !== null && FCM_ORIGIN === undefined,
      webPush: simulator !== null && WEB_PUSH_HOSTS === undefined,
    },
  };
}

const simulatedHosts = (simulator: Simulator | null): readonly string[] | null =>
  simulator === null ? null : [new URL(simulator.webPushOrigin).host];
