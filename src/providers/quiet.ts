/** A payload that makes no noise where it takes the place of one that is shown (decision 77). */

import type { JsonObject } from '../../packages/std/src/json.ts';
import { isObject } from '../../packages/std/src/json.ts';
import { PLATFORMS } from '../../packages/std/src/platforms.ts';
import type { Payload } from '../domain/notification.ts';
import { hasText } from './webpush/message.ts';

/** Members of overlays that would make a noise all the same: Google takes either spelling. */
const NOISE = {
  aps: ['sound', 'interruption-level'],
  android: [
    'sound',
    'default_sound',
    'defaultSound',
    'default_vibrate_timings',
    'defaultVibrateTimings',
    'vibrate_timings',
    'vibrateTimings',
    'notification_priority',
    'notificationPriority',
  ],
  web: ['renotify', 'silent', 'sound', 'vibrate'],
} as const;

/** Without a sound, and `passive`. */
export function quietly({ sound: _, languages, ...payload }: Payload): Payload {
  const { apns, fcm, webpush } = payload;
  return {
    ...payload,
    present: { ...payload.present, interruption: 'passive' },
    ...(apns === undefined ? {} : { apns: at(apns, ['aps'], NOISE.aps) }),
    ...(fcm === undefined ? {} : { fcm: at(fcm, ['android', 'notification'], NOISE.android) }),
    ...(webpush === undefined ? {} : { webpush: at(webpush, [], NOISE.web) }),
    ...(languages === undefined
      ? {}
      : { languages: languages.map((one) => ({ ...one, payload: quietly(one.payload) })) }),
  };
}

/**
 * Browsers alert again for a message in the place of another, unless the publisher says not.
 * `platformIds`: where it goes.
 */
export function loudly(given: Payload, platformIds: readonly number[]): Payload {
  if (!platformIds.includes(PLATFORMS.webpush)) return given;
  const { languages, ...payload } = given;
  const { webpush } = payload;
  const isSaid = !hasText(payload) || webpush?.['renotify'] !== undefined;
  return {
    ...payload,
    ...(isSaid ? {} : { webpush: { ...webpush, renotify: true } }),
    ...(languages === undefined
      ? {}
      : {
          languages: languages.map((one) => ({
            ...one,
            payload: loudly(one.payload, platformIds),
          })),
        }),
  };
}

/** The object without some members of the one at a path in it. */
function at(object: JsonObject, path: readonly string[], names: readonly string[]): JsonObject {
  const [name, ...rest] = path;
  if (name === undefined) {
    return Object.fromEntries(Object.entries(object).filter(([key]) => !names.includes(key)));
  }
  const inner = object[name];
  return isObject(inner) ? { ...object, [name]: at(inner, rest, names) } : object;
}
