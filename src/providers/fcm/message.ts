/** A message as FCM HTTP v1 takes it: JSON with the device's token or installation id inside. */

import type { JsonObject } from '../../../packages/std/src/json.ts';
import { asObject, isObject } from '../../../packages/std/src/json.ts';
import type { Message, Payload } from '../../domain/notification.ts';
import type { Rendered, RequestTemplate } from '../../transport/transport.ts';
import { secondsLeft } from '../expiry.ts';
import { contentWithIdentity, pushIdsOf } from '../identity.ts';
import { overlay } from '../overlay.ts';
import type { FcmCredential, ServiceAccount } from './credential.ts';
import { FCM_PAYLOAD_BYTES_MAX } from './settings.ts';
import type { FcmTargetField } from './target.ts';

/** One content in a request for each way to name the device: a send only chooses one. */
export interface RenderedFcm extends Rendered, Readonly<Record<FcmTargetField, RequestTemplate>> {}

/** The token, escaped for a JSON string, goes between the two halves of the body. */
export function renderFcm(message: Message, credential: FcmCredential, nowMs: number): RenderedFcm {
  return fcmRequests(fcmContent(message, nowMs), credential.serviceAccount);
}

/** `content`: the JSON of the message, without the device's name. It has `pushId` at least. */
export function fcmRequests(content: string, { project_id }: ServiceAccount): RenderedFcm {
  const payloadBytes = Buffer.byteLength(content);
  const token: RequestTemplate = {
    tokenIn: 'body',
    pathBefore: `/v1/projects/${encodeURIComponent(project_id)}/messages:send`,
    bodyBefore: BEFORE_TOKEN,
    bodyAfter: Buffer.from(`",${content.slice(1)}}`),
    lastingFields: { 'content-type': 'application/json' },
    messageFields: {},
    payloadBytes,
  };
  return { payloadBytes, token, fid: { ...token, bodyBefore: BEFORE_FID } };
}

const BEFORE_TOKEN = Buffer.from('{"message":{"token":"');
const BEFORE_FID = Buffer.from('{"message":{"fid":"');

/** FCM takes one target, the device: a publisher's own would send to somebody else. */
const TARGETS: ReadonlySet<string> = new Set(['token', 'topic', 'condition', 'fid']);

/**
 * The size counts against `FCM_PAYLOAD_BYTES_MAX`. Texts stand in `data` too, where existing
 * clients look for them; not where these copies alone are too much.
 */
export function fcmContent(message: Message, nowMs: number): string {
  const content = contentOf(message, nowMs, true);
  return Buffer.byteLength(content) <= FCM_PAYLOAD_BYTES_MAX
    ? content
    : contentOf(message, nowMs, false);
}

function contentOf(message: Message, nowMs: number, hasCopies: boolean): string {
  return contentWithIdentity(message, FCM_PAYLOAD_BYTES_MAX, (identity) =>
    contentWith(
      {
        notification: notificationOf(message.payload),
        data: dataOf(message.payload, hasCopies),
        android: androidOf(message, nowMs, identity),
      },
      message,
    ),
  );
}

function contentWith(
  parts: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  message: Message,
): string {
  const { payload } = message;
  const made = withoutEmpty(parts);
  const whole = payload.fcm === undefined ? made : withObjects(overlay(made, payload.fcm));
  const entries = Object.entries(whole).filter(([key]) => !TARGETS.has(key));
  const android = whole['android'];
  return JSON.stringify({
    ...Object.fromEntries(entries),
    data: withPushIds(whole['data'] ?? {}, message),
    // On Android this data replaces the common data.
    ...(isObject(android) && isObject(android['data'])
      ? { android: { ...android, data: withPushIds(android['data'], message) } }
      : {}),
  });
}

/** The parts of a message that are objects; FCM would refuse a list. */
const OBJECTS: ReadonlySet<string> = new Set([
  'notification',
  'data',
  'android',
  'apns',
  'webpush',
  'headers',
  'payload',
  'fcm_options',
  'fcmOptions',
]);

/** Empty ones as a publisher in PHP means them. What data holds is the publisher's. */
const withObjects = (part: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(part).map(([name, value]) => {
      if (!OBJECTS.has(name)) return [name, value];
      const object = asObject(value);
      return [name, isObject(object) && name !== 'data' ? withObjects(object) : object];
    }),
  );

/** Data that is not an object stays as it is: FCM's refusal says what is wrong. */
const withPushIds = (data: unknown, message: Message): unknown =>
  isObject(data) ? strings({ ...data, ...pushIdsOf(message) }) : data;

/** A silent message is data only: the app gets it, nothing is shown. */
const notificationOf = ({ silent, title, message, image }: Payload) =>
  silent ? {} : withoutAbsent({ title, body: message, image });

/** A silent message has its texts only here. */
function dataOf(payload: Payload, hasCopies: boolean): Readonly<Record<string, unknown>> {
  const { silent, title, message, url, image } = payload;
  const texts = silent || hasCopies ? { title, message, image } : {};
  return { ...withoutAbsent({ ...texts, url }), ...presentedIn(payload), ...payload.data };
}

/** Android has no fields for these: an app that builds its own alert reads them here. */
function presentedIn({ present }: Payload): Readonly<Record<string, unknown>> {
  if (present === undefined) return {};
  const { interruption, thread, subtitle, actions, actionCategory } = present;
  return withoutAbsent({ interruption, group: thread, subtitle, actions, actionCategory });
}

function androidOf(
  message: Message,
  nowMs: number,
  identity: string | undefined,
): Readonly<Record<string, unknown>> {
  const { priority, collapseId, silent } = message.payload;
  const ttlSeconds = secondsLeft(message, nowMs);
  return withoutAbsent({
    ttl: ttlSeconds === null ? undefined : `${ttlSeconds}s`,
    priority: priority === undefined ? undefined : ANDROID_PRIORITY[priority],
    collapse_key: collapseId,
    notification: silent ? undefined : shownOnAndroid(message.payload, identity),
  });
}

/**
 * Undefined: nothing is said about how Android shows it. A message without texts stays data alone,
 * for the app: with these fields Android would show an empty alert in its place.
 */
function shownOnAndroid(payload: Payload, identity: string | undefined): JsonObject | undefined {
  const { sound, present = {} } = payload;
  const isShown = hasTexts(payload);
  const { interruption, channel, appBadge } = isShown ? present : {};
  const shown = withoutAbsent({
    sound,
    notification_priority: interruption && NOTIFICATION_PRIORITIES[interruption],
    channel_id: channel,
    notification_count: appBadge,
    tag: isShown ? identity : undefined,
  });
  return Object.keys(shown).length === 0 ? undefined : shown;
}

function hasTexts(payload: Payload): boolean {
  const { notification, android } = payload.fcm ?? {};
  const onAndroid = isObject(android) ? asObject(android['notification']) : undefined;
  return (
    [notificationOf(payload), asObject(notification)].some(
      (texts) => isObject(texts) && Object.keys(texts).length > 0,
    ) ||
    (isObject(onAndroid) && ANDROID_TEXTS.some((name) => onAndroid[name] !== undefined))
  );
}

/** Google takes either spelling of a name. */
const ANDROID_TEXTS = [
  'title',
  'body',
  'title_loc_key',
  'titleLocKey',
  'body_loc_key',
  'bodyLocKey',
] as const;

const NOTIFICATION_PRIORITIES = {
  passive: 'PRIORITY_LOW',
  active: 'PRIORITY_DEFAULT',
  timeSensitive: 'PRIORITY_HIGH',
} as const;

const ANDROID_PRIORITY = { high: 'HIGH', normal: 'NORMAL' } as const;

/** FCM's `data` is map<string,string>. A null is left out: it means the same as no value. */
export function strings(data: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const entries: [string, string][] = [];
  for (const [key, value] of Object.entries(data)) {
    if (value === null || value === undefined) continue;
    entries.push([key, typeof value === 'object' ? JSON.stringify(value) : String(value)]);
  }
  return Object.fromEntries(entries);
}

const withoutAbsent = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const withoutEmpty = (parts: Readonly<Record<string, Readonly<Record<string, unknown>>>>) =>
  Object.fromEntries(Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0));
