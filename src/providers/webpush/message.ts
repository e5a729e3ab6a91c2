/**
 * A message for a service worker, as JSON, with header fields for the push service. If possible it
 * is also declarative (W3C Push API): browsers that know these show it by themselves.
 */

import { hash } from 'node:crypto';
import type { JsonObject } from '../../../packages/std/src/json.ts';
import type { Message, Payload } from '../../domain/notification.ts';
import type { Presentation } from '../../domain/presentation.ts';
import type { RequestTemplate } from '../../transport/transport.ts';
import { secondsLeft } from '../expiry.ts';
import { contentWithIdentity, identityOf, pushIdsOf } from '../identity.ts';
import { overlay } from '../overlay.ts';
import { TTL_SECONDS_DEFAULT, WEB_PUSH_PAYLOAD_BYTES_MAX } from './settings.ts';

const NOTHING = Buffer.alloc(0);

/** The request to a push service. The path is the endpoint's, the body encrypted per browser. */
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
      // Microsoft's service refuses a TTL of 0 without it; others do not know it.
      'x-wns-cache-policy': messageFields.ttl === '0' ? 'no-cache' : 'cache',
    },
    messageFields,
    payloadBytes: Buffer.byteLength(pushContent(message)),
  };
}

/**
 * Its size counts against `WEB_PUSH_PAYLOAD_BYTES_MAX`. The declarative members repeat the others:
 * left out where they alone are too much.
 */
export function pushContent(message: Message): string {
  const both = contentOf(message, true);
  return Buffer.byteLength(both) <= WEB_PUSH_PAYLOAD_BYTES_MAX ? both : contentOf(message, false);
}

const contentOf = (message: Message, isDeclared: boolean): string =>
  contentWithIdentity(message, WEB_PUSH_PAYLOAD_BYTES_MAX, (identity) => {
    const { payload } = message;
    const forWorker = overlay(forWorkerOf(payload, identity), pushIdsOf(message));
    const declared = isDeclared && !payload.silent ? declaredOf(forWorker) : null;
    return JSON.stringify(declared === null ? forWorker : overlay(declared, forWorker));
  });

/** Whether it has a text that browsers show. */
export const hasText = ({ title, message, webpush = {} }: Payload): boolean =>
  [title, message, webpush['title'], webpush['body']].some(
    (text) => typeof text === 'string' && text !== '',
  );

function forWorkerOf(
  payload: Payload,
  identity: string | undefined,
): Readonly<Record<string, unknown>> {
  const { title, message, url, image, badge, sound, data, present = {}, webpush } = payload;
  const silent = payload.silent === true || present.interruption === 'passive';
  const { actions, appBadge, mutable } = present;
  const made = {
    ...(title === undefined ? {} : { title }),
    ...(message === undefined ? {} : { body: message }),
    ...(url === undefined ? {} : { url }),
    ...(image === undefined ? {} : { image }),
    ...(badge === undefined ? {} : { badge }),
    ...(sound === undefined ? {} : { sound }),
    ...(silent ? { silent } : {}),
    ...(actions === undefined ? {} : { actions: actions.map(actionOf) }),
    ...(appBadge === undefined ? {} : { app_badge: appBadge }),
    ...(mutable === true ? { mutable } : {}),
    ...(identity !== undefined && hasText(payload) ? { tag: identity } : {}),
    ...(Object.keys(data).length === 0 ? {} : { data }),
  };
  return webpush === undefined ? made : overlay(made, webpush);
}

/** A NotificationAction of the Notifications API; `navigate` is what a declarative one opens. */
const actionOf = ({ id, title, url }: Action): JsonObject => ({
  action: id,
  title,
  ...(url === undefined ? {} : { navigate: url }),
});

type Action = NonNullable<Presentation['actions']>[number];

/** Marks a declarative message: the number of the RFC. */
const DECLARATIVE = 8030;

/** The members for `showNotification` that a browser can also show without a worker. */
const SHOWN_MEMBERS: ReadonlySet<string> = new Set([
  'title',
  'body',
  'image',
  'icon',
  'tag',
  'lang',
  'dir',
  'silent',
  'actions',
  'requireInteraction',
]);

/** The declarative members. Null: no title, or no URL that a browser can open. */
function declaredOf(
  forWorker: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | null {
  const { title, url, badge, app_badge = badge } = forWorker;
  if (typeof title !== 'string' || title === '') return null;
  if (typeof url !== 'string' || !WEB_ADDRESS.test(url) || !URL.canParse(url)) return null;
  const shown = Object.entries(forWorker).filter(([name]) => SHOWN_MEMBERS.has(name));
  return {
    web_push: DECLARATIVE,
    notification: { ...Object.fromEntries(shown), navigate: url },
    ...(typeof app_badge === 'number' ? { app_badge } : {}),
  };
}

/** Apps have URL schemes of their own, which a browser cannot open. */
const WEB_ADDRESS = /^https?:\/\//i;

interface PushFields {
  readonly ttl: string;
  readonly urgency: string;
  readonly topic?: string;
}

/** RFC 8030, 5.2 to 5.4. */
export function pushFields(message: Message, nowMs: number): PushFields {
  const { collapseId = hasText(message.payload) ? identityOf(message) : undefined } =
    message.payload;
  return {
    ttl: String(secondsLeft(message, nowMs) ?? TTL_SECONDS_DEFAULT),
    urgency: urgencyOf(message.payload),
    ...(collapseId === undefined ? {} : { topic: topicOf(collapseId) }),
  };
}

/** A shown message is urgent, unless the publisher says otherwise; a silent one can wait. */
function urgencyOf({ silent, priority, present }: Payload): string {
  if (silent) return 'low';
  return priority ?? (present?.interruption === 'passive' ? 'low' : 'high');
}

const TOPIC_OCTETS = 24;

/** At most 32 characters of base64url (RFC 8030, 5.4), which Apple decodes: 24 octets of a hash. */
const topicOf = (identity: string): string =>
  hash('sha256', identity, 'buffer').toString('base64url', 0, TOPIC_OCTETS);
