/**
 * The message for a browser that registered with FCM: data only. The page's worker shows it;
 * Firebase's code would show a `notification` as well.
 */

import { isObject } from '../../../packages/std/src/json.ts';
import type { Message } from '../../domain/notification.ts';
import type { ServiceAccount } from '../fcm/credential.ts';
import type { RenderedFcm } from '../fcm/message.ts';
import { fcmRequests, strings } from '../fcm/message.ts';
import { isReservedByFcm } from '../fcm/payload-faults.ts';
import { FCM_PAYLOAD_BYTES_MAX } from '../fcm/settings.ts';
import { contentWithIdentity, pushIdsOf } from '../identity.ts';
import { hasText, pushFields } from './message.ts';

export const renderForFcm = (
  message: Message,
  account: ServiceAccount,
  nowMs: number,
): RenderedFcm => fcmRequests(contentOf(message, nowMs), account);

function contentOf(message: Message, nowMs: number): string {
  const { ttl, urgency, topic } = pushFields(message, nowMs);
  const headers = { TTL: ttl, Urgency: urgency, ...(topic === undefined ? {} : { Topic: topic }) };
  return contentWithIdentity(message, FCM_PAYLOAD_BYTES_MAX, (identity) =>
    JSON.stringify({ data: dataOf(message, identity), webpush: { headers } }),
  );
}

/** The data under the names that such workers read, with the members of `webpush`. */
function dataOf(message: Message, identity: string | undefined): Readonly<Record<string, string>> {
  const { payload } = message;
  const { title, url, image, present = {}, webpush = {} } = payload;
  const { actions, appBadge, interruption } = present;
  const silent = interruption === 'passive' ? true : undefined;
  const tag = hasText(payload) ? identity : undefined;
  const { body, data, ...options } = webpush;
  const over = {
    ...options,
    ...(body === undefined ? {} : { message: body }),
    ...(isObject(data) ? data : {}),
  };
  // FCM would refuse the whole message for these names; other browsers take them.
  const allowed = Object.entries(over).filter(([key]) => !isReservedByFcm(key));
  return strings({
    ...{
      title,
      message: payload.message,
      url,
      image,
      silent,
      actions,
      tag,
      app_badge: appBadge,
      ...payload.data,
    },
    ...Object.fromEntries(allowed),
    ...pushIdsOf(message),
  });
}
