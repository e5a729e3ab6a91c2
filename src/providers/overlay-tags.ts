/** The identity of an alert as a payload says it: a tag of an overlay comes before collapseId. */

import type { JsonObject } from '../../packages/std/src/json.ts';
import { isObject } from '../../packages/std/src/json.ts';
import type { Payload } from '../domain/notification.ts';

/** The identity in a payload. Absent: the job that was sent first stands for it. */
export interface OwnIdentity {
  readonly collapseId?: string;
  /** Tags of overlays, which hold in place of that on Android and in browsers. */
  readonly androidTag?: string;
  readonly webTag?: string;
}

export const IDENTITY_PATHS = [
  ['collapseId', 'payload.collapseId'],
  ['androidTag', 'payload.fcm.android.notification.tag'],
  ['webTag', 'payload.webpush.tag'],
] as const;

/** Tags may be anything that a publisher wrote. */
export const tagsOf = ({ collapseId, fcm, webpush }: Payload) => ({
  collapseId,
  androidTag: shownOnAndroid(fcm)?.['tag'],
  webTag: webpush?.['tag'],
});

function shownOnAndroid(fcm: JsonObject | undefined): JsonObject | null {
  const android = fcm?.['android'];
  const shown = isObject(android) ? android['notification'] : undefined;
  return isObject(shown) ? shown : null;
}

/** The payload with these tags in its overlays, and no others. */
export function withTags<Some extends Pick<Payload, 'fcm' | 'webpush'>>(
  payload: Some,
  { androidTag, webTag }: OwnIdentity,
): Some {
  const fcm = fcmWith(payload.fcm, androidTag);
  const webpush = tagged(payload.webpush, webTag);
  return {
    ...payload,
    ...(fcm === undefined ? {} : { fcm }),
    ...(webpush === undefined ? {} : { webpush }),
  };
}

function fcmWith(fcm: JsonObject | undefined, tag: string | undefined): JsonObject | undefined {
  const shown = tagged(shownOnAndroid(fcm) ?? undefined, tag);
  if (shown === undefined) return fcm;
  const android = fcm?.['android'];
  return { ...fcm, android: { ...(isObject(android) ? android : {}), notification: shown } };
}

function tagged(overlay: JsonObject | undefined, tag: string | undefined): JsonObject | undefined {
  if (tag !== undefined) return { ...overlay, tag };
  if (overlay === undefined) return undefined;
  const { tag: _, ...others } = overlay;
  return others;
}
