/** The operator's list of push services; FCM's settings apply to browsers' FCM tokens. */

import type { SettingsOf } from '../../std/setting-forms.ts';
import { list } from '../../std/setting-forms.ts';
import type { FcmOrigins } from '../fcm/origins.ts';
import type { Site } from '../site.ts';
import { AllowList, DEFAULT_PUSH_HOSTS, isPushHost } from './allow-list.ts';

export const WEB_PUSH_SETTINGS = {
  WEB_PUSH_HOSTS: list
    .refine((entries) => entries.every(isPushHost), {
      error: 'must be hosts, host:port or *.domain, separated by commas',
    })
    .optional()
    .describe(
      'Push services of browsers that Tagcast may send to, separated by commas: a host, *.domain, or host:port, which may also be on this machine. Default: those of Google, Mozilla, Apple and Microsoft; the simulator when it runs.',
    ),
};

interface PushServices {
  /** The push services that the engine may send to: entries of the allow-list (allow-list.ts). */
  readonly webPushHosts: readonly string[];
}

export interface WebPushOrigins extends PushServices, FcmOrigins {}

const REAL_HOSTS = new AllowList(DEFAULT_PUSH_HOSTS);

export const WEB_PUSH_SITE: Site<
  SettingsOf<typeof WEB_PUSH_SETTINGS>,
  { readonly webPushOrigin: string },
  PushServices
> = {
  isPlaced: ({ WEB_PUSH_HOSTS }) => WEB_PUSH_HOSTS !== undefined,
  isReal: (origin) => REAL_HOSTS.admissionOf(origin) !== 'no',
  originsOf({ WEB_PUSH_HOSTS }, simulator) {
    const simulated = simulator === null ? null : [new URL(simulator.webPushOrigin).host];
    return { webPushHosts: WEB_PUSH_HOSTS ?? simulated ?? DEFAULT_PUSH_HOSTS };
  },
};
