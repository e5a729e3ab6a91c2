/**
 * Reads the header fields of an APNs request, and finds faults that need no look at its account
 * (internals/providers.md, "APNs: requests" and "APNs: answers").
 */

import type { Field } from '../../../http2/src/hpack/field.ts';
import { fieldValue, hasDuplicates } from '../server/fields.ts';
import type { ApnsReason } from './apns-reasons.ts';

export interface ApnsFields {
  /** The fields that all this was read from. */
  readonly fields: readonly Field[];
  readonly hasDuplicates: boolean;
  readonly authorization: string | undefined;
  /** Empty when there is none. */
  readonly topic: string;
  /** The reason why no account can have this topic. */
  readonly topicFault: ApnsReason | undefined;
  /** The app that the topic names; undefined when the topic does not fit the push type. */
  readonly bundleId: string | undefined;
  readonly pushType: string | undefined;
  /** The apns-id that the answer repeats; undefined when there is none that may be repeated. */
  readonly id: string | undefined;
  /** The fault of the others: priority, expiration, collapse id, id. */
  readonly fault: ApnsReason | undefined;
}

/**
 * The suffix that each push type adds to the bundle id to make the topic. `mdm` has topics of its
 * own, which no account here has.
 */
export const TOPIC_SUFFIXES: ReadonlyMap<string, string> = new Map([
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

const COLLAPSE_ID_BYTES_MAX = 64;

const TOPIC = /^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*$/;
const PRIORITY = /^(?:1|5|10)$/;
const EPOCH_SECONDS = /^\d{1,10}$/;
const LOWER_CASE_UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function readApnsFields(fields: readonly Field[]): ApnsFields {
  const topic = fieldValue(fields, 'apns-topic') ?? '';
  const pushType = fieldValue(fields, 'apns-push-type');
  const id = fieldValue(fields, 'apns-id');
  return {
    fields,
    hasDuplicates: hasDuplicates(fields),
    authorization: fieldValue(fields, 'authorization'),
    topic,
    topicFault: topicFaultOf(topic),
    bundleId: bundleIdOf(topic, pushType),
    pushType,
    id: id !== undefined && LOWER_CASE_UUID.test(id) ? id : undefined,
    fault: faultOf(fields, pushType, id),
  };
}

function topicFaultOf(topic: string): ApnsReason | undefined {
  if (topic === '') return 'MissingTopic';
  return TOPIC.test(topic) ? undefined : 'BadTopic';
}

function bundleIdOf(topic: string, pushType: string | undefined): string | undefined {
  // Optional by Apple's documentation on most systems, but without it watches drop the push:
  // treated as mandatory.
  const suffix = TOPIC_SUFFIXES.get(pushType ?? '');
  if (suffix === undefined || !topic.endsWith(suffix)) return undefined;
  return topic.slice(0, topic.length - suffix.length);
}

function faultOf(
  fields: readonly Field[],
  pushType: string | undefined,
  id: string | undefined,
): ApnsReason | undefined {
  const priority = fieldValue(fields, 'apns-priority') ?? '10';
  if (!PRIORITY.test(priority)) return 'BadPriority';
  if (pushType === 'background' && priority !== '5') return 'BadPriority';
  if (!EPOCH_SECONDS.test(fieldValue(fields, 'apns-expiration') ?? '0')) return 'BadExpirationDate';
  // Header values arrive as one character a byte, so this length is in bytes, as Apple's limit is.
  const collapseId = fieldValue(fields, 'apns-collapse-id') ?? '';
  if (collapseId.length > COLLAPSE_ID_BYTES_MAX) return 'BadCollapseId';
  return id !== undefined && !LOWER_CASE_UUID.test(id) ? 'BadMessageId' : undefined;
}
