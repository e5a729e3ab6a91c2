/** The push services of browsers; their FCM tokens go to the address of FCM. */

import type { SettingsOf } from '../../std/setting-forms.ts';
import type { FcmOrigins } from '../fcm/origins.ts';
import type { Site } from '../site.ts';
import { AllowList, DEFAULT_PUSH_HOSTS } from './allow-list.ts';
import type { WEB_PUSH_SETTINGS } from './operator-settings.ts';

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
