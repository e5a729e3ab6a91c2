/** A message as APNs takes it: JSON with `aps`, and header fields for all that is not shown. */

import type { JsonObject } from '../../../packages/std/src/json.ts';
import { isObject } from '../../../packages/std/src/json.ts';
import type { Message, Payload } from '../../domain/notification.ts';
import type { RequestTemplate } from '../../transport/transport.ts';
import { endMsOf } from '../expiry.ts';
import { identityOf, pushIdsOf } from '../identity.ts';
import { overlay } from '../overlay.ts';
import type { ApnsCredential } from './credential.ts';
import { labelOf } from './push-type.ts';

/** Renders once for all devices; the device's token goes to the end of the path. */
export function renderApns(
  message: Message,
  credential: ApnsCredential,
  nowMs: number,
): RequestTemplate {
  const body = Buffer.from(apnsContent(message));
  const aps = apsOf(message.payload);
  const { pushType, topic, priority } = labelOf(message.payload, aps, credential.bundleId);
  // Other types are no notifications, which a later one could replace.
  const isAlert = pushType === 'alert' && aps['alert'] !== undefined;
  return {
    tokenIn: 'path',
    pathBefore: '/3/device/',
    bodyBefore: body,
    bodyAfter: NOTHING,
    lastingFields: { 'apns-topic': topic, 'apns-push-type': pushType, 'apns-priority': priority },
    messageFields: messageFields(message, nowMs, isAlert),
    payloadBytes: body.length,
  };
}

const NOTHING = Buffer.alloc(0);

/** No `apns-id`: it names one push to one device, and APNs makes it when absent. */
function messageFields(
  message: Message,
  nowMs: number,
  isAlert: boolean,
): Readonly<Record<string, string>> {
  const { collapseId = isAlert ? identityOf(message) : undefined } = message.payload;
  const expiration = apnsExpiration(message, nowMs);
  return {
    ...(expiration === null ? {} : { 'apns-expiration': expiration }),
    ...(collapseId === undefined ? {} : { 'apns-collapse-id': collapseId }),
  };
}

/** Epoch seconds of its end; `0`, which means one attempt, when that has passed. */
function apnsExpiration(message: Message, nowMs: number): string | null {
  const endMs = endMsOf(message);
  // Apple: what is said over a push to talk is of no use later.
  if (endMs === null) return message.payload.apnsPushType === 'pushtotalk' ? '0' : null;
  return endMs <= nowMs ? '0' : String(Math.floor(endMs / 1_000));
}

/** All of the body. Its size counts against the limit of its type. */
export function apnsContent(message: Message): string {
  const { payload } = message;
  const made = overlay({ ...shown(payload), ...payload.data }, payload.apns ?? {});
  return JSON.stringify({ ...made, aps: apsOf(payload), ...pushIdsOf(message) });
}

/** `aps` as it is sent. A member that the publisher makes null is taken away. */
export function apsOf(payload: Payload): JsonObject {
  const over = payload.apns?.['aps'];
  const merged = isObject(over) ? overlay(madeAps(payload), over) : madeAps(payload);
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}

/** A silent push has its text here, for the app to use. */
const shown = ({ silent, title, message, url, image }: Payload): Readonly<Record<string, string>> =>
  withoutAbsent({ ...(silent ? { title, message } : {}), url, image });

function madeAps(payload: Payload): JsonObject {
  const { title, message, sound, image, present = {} } = payload;
  const { interruption, thread, relevance, subtitle, actionCategory, mutable } = present;
  const badge = present.appBadge ?? payload.badge;
  // Apple: a background push has no alert, badge or sound.
  if (payload.silent) return { 'content-available': 1 };
  const alert = withoutAbsent({ title, subtitle, body: message });
  return {
    ...(Object.keys(alert).length === 0 ? {} : { alert }),
    ...(badge === undefined ? {} : { badge }),
    ...(sound === undefined ? {} : { sound }),
    // Lets the app's service extension fetch the image before the notification is shown.
    ...(image === undefined && mutable !== true ? {} : { 'mutable-content': 1 }),
    ...withoutAbsent({
      'interruption-level': interruption && INTERRUPTION_LEVELS[interruption],
      'thread-id': thread,
      category: actionCategory,
    }),
    ...(relevance === undefined ? {} : { 'relevance-score': relevance }),
  };
}

const INTERRUPTION_LEVELS = {
  passive: 'passive',
  active: 'active',
  timeSensitive: 'time-sensitive',
} as const;

function withoutAbsent(
  texts: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const given: Record<string, string> = {};
  for (const [key, value] of Object.entries(texts)) {
    if (value !== undefined) given[key] = value;
  }
  return given;
}
