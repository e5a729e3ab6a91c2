/** The same message for a browser that registered an FCM token, as the public service's web SDK does: FCM HTTP v1 with a `webpush` block. */

import type { ServiceAccount } from '../../domain/credential.ts';
import type { Message, Payload } from '../../domain/notification.ts';
import { fcmTemplate, strings } from '../fcm/message.ts';
import type { RequestTemplate } from '../transport.ts';
import { pushFields } from './message.ts';

export const renderForFcm = (
  message: Message,
  account: ServiceAccount,
  nowMs: number,
): RequestTemplate => fcmTemplate(JSON.stringify(contentOf(message, nowMs)), account);

function contentOf(message: Message, nowMs: number): object {
  const { payload } = message;
  const { ttl, urgency, topic } = pushFields(message, nowMs);
  const data = strings({ ...unseen(payload), url: payload.url, ...payload.data });
  const link = payload.url !== undefined && HTTPS.test(payload.url) ? payload.url : null;
  const shown = payload.silent ? {} : shownOf(payload);
  return {
    ...(Object.keys(shown).length === 0 ? {} : { notification: shown }),
    ...(Object.keys(data).length === 0 ? {} : { data }),
    webpush: {
      headers: { TTL: ttl, Urgency: urgency, ...(topic === undefined ? {} : { Topic: topic }) },
      // What `showNotification` takes, as in the other form.
      ...(payload.webpush === undefined || payload.silent ? {} : { notification: payload.webpush }),
      ...(link === null ? {} : { fcm_options: { link } }),
    },
  };
}

/** FCM takes links of this scheme only, and refuses the whole message for another. */
const HTTPS = /^https:\/\//i;

const shownOf = ({ title, message, image }: Payload) => strings({ title, body: message, image });

/** A silent message is data only: nothing is shown, the page gets it. */
const unseen = ({ silent, title, message, image }: Payload) =>
  silent ? { title, message, image } : {};
