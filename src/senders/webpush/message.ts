/** A message as a service worker gets it, JSON of the payload's common fields, and the header fields that tell a push service how. */

import { hash } from 'node:crypto';
import type { Message, Payload } from '../../domain/notification.ts';
import { secondsLeft } from '../expiry.ts';
import { overlay } from '../overlay.ts';
import type { RequestTemplate } from '../transport.ts';
import { TTL_SECONDS_DEFAULT } from './settings.ts';

const NOTHING = Buffer.alloc(0);

/** The request to a push service: the path is the endpoint's, and the body is encrypted for each browser. */
export function renderPush(message: Message, nowMs: number): RequestTemplate {
  const { urgency, ...messageFields } = pushFields(message, nowMs);
  return {
    tokenIn: 'path',
    pathBefore: '',
    bodyBefore: NOTHING,
    bodyAfter: NOTHING,
    hasOwnBody: true,
    lastingFields: {
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      urgency,
    },
    messageFields,
    payloadBytes: webPushPayloadBytes(message.payload),
  };
}

/** What is encrypted. */
export function pushContent(payload: Payload): string {
  const { title, message, url, image, badge, sound, silent, data, webpush } = payload;
  const made = {
    ...(title === undefined ? {} : { title }),
    ...(message === undefined ? {} : { body: message }),
    ...(url === undefined ? {} : { url }),
    ...(image === undefined ? {} : { image }),
    ...(badge === undefined ? {} : { badge }),
    ...(sound === undefined ? {} : { sound }),
    ...(silent ? { silent } : {}),
    ...(Object.keys(data).length === 0 ? {} : { data }),
  };
  return JSON.stringify(webpush === undefined ? made : overlay(made, webpush));
}

/** The size that counts against `WEB_PUSH_PAYLOAD_BYTES_MAX`. */
export const webPushPayloadBytes = (payload: Payload): number =>
  Buffer.byteLength(pushContent(payload));

export interface PushFields {
  readonly ttl: string;
  readonly urgency: string;
  readonly topic?: string;
}

/** RFC 8030, 5.2 to 5.4. */
export function pushFields(message: Message, nowMs: number): PushFields {
  const { collapseId } = message.payload;
  return {
    ttl: String(secondsLeft(message, nowMs) ?? TTL_SECONDS_DEFAULT),
    urgency: urgencyOf(message.payload),
    ...(collapseId === undefined ? {} : { topic: topicOf(collapseId) }),
  };
}

/** As on iOS: what is shown is urgent unless the publisher says otherwise, what is not can wait for the charger. */
function urgencyOf({ silent, priority = 'high' }: Payload): string {
  return silent ? 'low' : priority;
}

const TOPIC_OCTETS = 24;

/**
 * At most 32 characters of base64url (RFC 8030, 5.4), which Apple decodes: of 24 octets they are exactly 32, whatever the
 * collapseId is made of.
 */
const topicOf = (collapseId: string): string =>
  hash('sha256', collapseId, 'buffer').toString('base64url', 0, TOPIC_OCTETS);
