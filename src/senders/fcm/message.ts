/** A message as FCM HTTP v1 wants it: JSON with the device's token inside, every value of `data` a string. */

import type { FcmCredential, ServiceAccount } from '../../domain/credential.ts';
import type { Message, Payload } from '../../domain/notification.ts';
import { isObject } from '../../domain/payload.ts';
import { secondsLeft } from '../expiry.ts';
import { overlay } from '../overlay.ts';
import type { RequestTemplate } from '../transport.ts';

/** Renders once for all devices; the token, as it stands inside of a JSON string, goes between the two halves of the body. */
export function renderFcm(
  message: Message,
  credential: FcmCredential,
  nowMs: number,
): RequestTemplate {
  return fcmTemplate(fcmContent(message, nowMs), credential.serviceAccount);
}

/** `content`: the JSON object of the message, without its token. */
export function fcmTemplate(content: string, { project_id }: ServiceAccount): RequestTemplate {
  const project = encodeURIComponent(project_id);
  return {
    tokenIn: 'body',
    pathBefore: `/v1/projects/${project}/messages:send`,
    bodyBefore: BEFORE_TOKEN,
    bodyAfter: Buffer.from(content === '{}' ? '"}}' : `",${content.slice(1)}}`),
    lastingFields: { 'content-type': 'application/json' },
    messageFields: {},
    payloadBytes: Buffer.byteLength(content),
  };
}

const BEFORE_TOKEN = Buffer.from('{"message":{"token":"');

/** The size that counts against `FCM_PAYLOAD_BYTES_MAX`: all of the message but its token. */
export const fcmPayloadBytes = (message: Message, nowMs: number): number =>
  Buffer.byteLength(fcmContent(message, nowMs));

/** FCM takes exactly one target, and ours is the device: a publisher's own would send to somebody else. */
const TARGETS: ReadonlySet<string> = new Set(['token', 'topic', 'condition', 'fid']);

function fcmContent(message: Message, nowMs: number): string {
  const { payload } = message;
  const made = withoutEmpty({
    notification: notificationOf(payload),
    data: dataOf(payload),
    android: androidOf(message, nowMs),
  });
  const whole = payload.fcm === undefined ? made : overlay(made, payload.fcm);
  const entries = Object.entries(whole).filter(([key]) => !TARGETS.has(key));
  return JSON.stringify(
    Object.fromEntries(
      entries.map(([key, value]) =>
        key === 'data' && isObject(value) ? [key, strings(value)] : [key, value],
      ),
    ),
  );
}

/** A silent message is data only: the app gets it, nothing is shown. */
const notificationOf = ({ silent, title, message, image }: Payload) =>
  silent ? {} : withoutAbsent({ title, body: message, image });

function dataOf(payload: Payload): Readonly<Record<string, unknown>> {
  const { silent, title, message, url, image } = payload;
  return {
    ...withoutAbsent({ ...(silent ? { title, message, image } : {}), url }),
    ...payload.data,
  };
}

function androidOf(message: Message, nowMs: number): Readonly<Record<string, unknown>> {
  const { priority, collapseId, sound, silent } = message.payload;
  const ttlSeconds = secondsLeft(message, nowMs);
  return withoutAbsent({
    ttl: ttlSeconds === null ? undefined : `${ttlSeconds}s`,
    priority: priority === undefined ? undefined : ANDROID_PRIORITY[priority],
    collapse_key: collapseId,
    notification: sound === undefined || silent ? undefined : { sound },
  });
}

const ANDROID_PRIORITY = { high: 'HIGH', normal: 'NORMAL' } as const;

/** `data` is map<string,string>. A null says nothing that its absence does not. */
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
