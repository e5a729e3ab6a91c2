/**
 * Checks an APNs request, except its sender: request line, topic, payload (internals/providers.md,
 * "APNs: requests" and "APNs: answers").
 */

import type { JsonObject } from '../../../std/src/json.ts';
import { isObject, parseObject } from '../../../std/src/json.ts';
import type { ProviderRequest } from '../server/exchange.ts';
import { sameFields } from '../server/fields.ts';
import type { ApnsFields } from './apns-fields.ts';
import { readApnsFields, TOPIC_SUFFIXES } from './apns-fields.ts';
import type { ApnsReason } from './apns-reasons.ts';
import { DEVICE_PATH } from './device-token.ts';

const PAYLOAD_BYTES_MAX = 4_096;
const VOIP_PAYLOAD_BYTES_MAX = 5_120;

/** The content of the header fields. */
export function fieldsOf({ fields, connection }: ProviderRequest): ApnsFields {
  // The pushes of one notification differ only in their path: the last result still holds.
  const last = connection.apnsFields;
  if (last !== undefined && sameFields(last.fields, fields)) return last;
  const read = readApnsFields(fields);
  connection.apnsFields = read;
  return read;
}

/** The fault of the request line and of repeated fields; undefined when there is none. */
export function checkRequestLine(
  { method, path }: ProviderRequest,
  fields: ApnsFields,
): ApnsReason | undefined {
  if (!path.startsWith(DEVICE_PATH)) return 'BadPath';
  if (method !== 'POST') return 'MethodNotAllowed';
  return fields.hasDuplicates ? 'DuplicateHeaders' : undefined;
}

/** The first fault after the provider token; undefined when APNs would accept the push. */
export function checkPush(
  request: ProviderRequest,
  fields: ApnsFields,
  deviceToken: string | undefined,
  ownsBundle: (bundleId: string) => boolean,
): ApnsReason | undefined {
  return (
    checkTopic(fields, ownsBundle) ??
    fields.fault ??
    checkDeviceToken(request, deviceToken) ??
    checkPayload(request, fields.pushType)
  );
}

function checkTopic(
  { topic, topicFault, bundleId }: ApnsFields,
  ownsBundle: (bundleId: string) => boolean,
): ApnsReason | undefined {
  if (topicFault !== undefined) return topicFault;
  if (bundleId !== undefined && ownsBundle(bundleId)) return undefined;
  // If a topic of ours fits another push type, the type is wrong and not the topic.
  const isOurs = [...TOPIC_SUFFIXES.values()].some(
    (other) => topic.endsWith(other) && ownsBundle(topic.slice(0, topic.length - other.length)),
  );
  return isOurs ? 'InvalidPushType' : 'TopicDisallowed';
}

function checkDeviceToken(
  { path }: ProviderRequest,
  deviceToken: string | undefined,
): ApnsReason | undefined {
  if (path === DEVICE_PATH) return 'MissingDeviceToken';
  return deviceToken === undefined ? 'BadDeviceToken' : undefined;
}

function checkPayload(
  { body, connection }: ProviderRequest,
  pushType: string | undefined,
): ApnsReason | undefined {
  // All pushes of a notification carry the same bytes; parsing them again would give the same
  // result.
  const last = connection.apnsPayload;
  if (last !== undefined && last.pushType === pushType && last.body.equals(body)) return undefined;
  const bytesMax = pushType === 'voip' ? VOIP_PAYLOAD_BYTES_MAX : PAYLOAD_BYTES_MAX;
  if (body.length > bytesMax) return 'PayloadTooLarge';
  const aps = parseObject(body.toString())?.['aps'];
  if (!isObject(aps)) return 'PayloadEmpty';
  if (pushType === 'background' && !isBackground(aps)) return 'InvalidPushType';
  connection.apnsPayload = { body: Buffer.from(body), pushType };
  return undefined;
}

/** A background push wakes the app and shows nothing. */
function isBackground(aps: JsonObject): boolean {
  return aps['content-available'] === 1 && aps['alert'] === undefined;
}
