/** Checks everything about an APNs request but who sends it: path, headers, payload (facts, 1.1 and 1.5). */

import type { ApnsReason } from './apns-reasons.ts';
import type { ProviderRequest } from './exchange.ts';
import { header } from './exchange.ts';
import type { JsonObject } from './json.ts';
import { isObject, parseObject } from './json.ts';

/** What each push type appends to the bundle id to make the topic. `mdm` has topics of its own, which no account here has. */
const TOPIC_SUFFIXES: ReadonlyMap<string, string> = new Map([
  ['alert', ''],
  ['background', ''],
  ['voip', '.voip'],
  ['complication', '.complication'],
  ['fileprovider', '.pushkit.fileprovider'],
  ['location', '.location-query'],
  ['liveactivity', '.push-type.liveactivity'],
  ['pushtotalk', '.voip-ptt'],
  ['widgets', '.push-type.widgets'],
  ['controls', '.push-type.controls'],
]);

const DEVICE_PATH = '/3/device/';
const PAYLOAD_BYTES_MAX = 4_096;
const VOIP_PAYLOAD_BYTES_MAX = 5_120;
const COLLAPSE_ID_BYTES_MAX = 64;

const DEVICE_TOKEN = /^(?:[0-9a-f]{2}){32,}$/i;
const TOPIC = /^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*$/;
const PRIORITY = /^(?:1|5|10)$/;
const EPOCH_SECONDS = /^\d{1,10}$/;
const LOWER_CASE_UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Why the request line is no push; undefined when it is one. */
export function checkRequestLine(request: ProviderRequest): ApnsReason | undefined {
  if (!request.path.startsWith(DEVICE_PATH)) return 'BadPath';
  if (request.method !== 'POST') return 'MethodNotAllowed';
  return request.hasDuplicateHeaders ? 'DuplicateHeaders' : undefined;
}

/** The device token of the path, in the one case it is recorded in; undefined when it is malformed. */
export function deviceTokenOf(request: ProviderRequest): string | undefined {
  if (!request.path.startsWith(DEVICE_PATH)) return undefined;
  const token = request.path.slice(DEVICE_PATH.length);
  if (!DEVICE_TOKEN.test(token)) return undefined;
  // A string of its own: a slice would keep the whole path, which node:http2 holds outside the heap.
  return Buffer.from(token, 'hex').toString('hex');
}

/** The apns-id that the answer repeats; undefined when the request has none that may be repeated. */
export function apnsIdOf(request: ProviderRequest): string | undefined {
  const id = header(request, 'apns-id');
  return id !== undefined && LOWER_CASE_UUID.test(id) ? id : undefined;
}

/** The first thing wrong after the provider token; undefined when APNs would take it. */
export function checkPush(
  request: ProviderRequest,
  ownsBundle: (bundleId: string) => boolean,
): ApnsReason | undefined {
  return (
    checkTopic(request, ownsBundle) ??
    checkHeaders(request) ??
    checkDeviceToken(request) ??
    checkPayload(request)
  );
}

function checkTopic(
  request: ProviderRequest,
  ownsBundle: (bundleId: string) => boolean,
): ApnsReason | undefined {
  const topic = header(request, 'apns-topic') ?? '';
  if (topic === '') return 'MissingTopic';
  if (!TOPIC.test(topic)) return 'BadTopic';
  // Optional by Apple's letter on most systems, yet without it watches drop the push: treated as mandatory.
  const suffix = TOPIC_SUFFIXES.get(header(request, 'apns-push-type') ?? '');
  if (suffix !== undefined && topic.endsWith(suffix)) {
    if (ownsBundle(topic.slice(0, topic.length - suffix.length))) return undefined;
  }
  // A topic of ours that another push type would go with is a fault of the type, not of the topic.
  const isOurs = [...TOPIC_SUFFIXES.values()].some(
    (other) => topic.endsWith(other) && ownsBundle(topic.slice(0, topic.length - other.length)),
  );
  return isOurs ? 'InvalidPushType' : 'TopicDisallowed';
}

function checkHeaders(request: ProviderRequest): ApnsReason | undefined {
  const priority = header(request, 'apns-priority') ?? '10';
  if (!PRIORITY.test(priority)) return 'BadPriority';
  if (header(request, 'apns-push-type') === 'background' && priority !== '5') return 'BadPriority';
  if (!EPOCH_SECONDS.test(header(request, 'apns-expiration') ?? '0')) return 'BadExpirationDate';
  // Header values arrive as one character a byte, so this length is in bytes, as Apple's limit is.
  const collapseId = header(request, 'apns-collapse-id') ?? '';
  if (collapseId.length > COLLAPSE_ID_BYTES_MAX) return 'BadCollapseId';
  const hasBadId = header(request, 'apns-id') !== undefined && apnsIdOf(request) === undefined;
  return hasBadId ? 'BadMessageId' : undefined;
}

function checkDeviceToken(request: ProviderRequest): ApnsReason | undefined {
  if (request.path === DEVICE_PATH) return 'MissingDeviceToken';
  return deviceTokenOf(request) === undefined ? 'BadDeviceToken' : undefined;
}

function checkPayload(request: ProviderRequest): ApnsReason | undefined {
  const { body } = request;
  const pushType = header(request, 'apns-push-type');
  const bytesMax = pushType === 'voip' ? VOIP_PAYLOAD_BYTES_MAX : PAYLOAD_BYTES_MAX;
  if (body.length > bytesMax) return 'PayloadTooLarge';
  const aps = parseObject(body.toString())?.['aps'];
  if (!isObject(aps)) return 'PayloadEmpty';
  if (pushType === 'background' && !isBackground(aps)) return 'InvalidPushType';
  return undefined;
}

/** A background push wakes the app and shows nothing. */
function isBackground(aps: JsonObject): boolean {
  return aps['content-available'] === 1 && aps['alert'] === undefined;
}
