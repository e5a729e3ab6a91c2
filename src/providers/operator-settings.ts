/**
 * The operator's settings for all providers. Apart from `origins.ts`, which worker threads load:
 * the library of these forms takes longer to load than all that sends.
 */

import { APNS_SETTINGS } from './apns/operator-settings.ts';
import { FCM_SETTINGS } from './fcm/operator-settings.ts';
import { WEB_PUSH_SETTINGS } from './webpush/operator-settings.ts';

export const PROVIDER_SETTINGS = { ...APNS_SETTINGS, ...FCM_SETTINGS, ...WEB_PUSH_SETTINGS };
