/**
 * How a push is labelled for APNs: by its content, unless the publisher names the type. Wrong
 * labels are refused, or the phone drops the push.
 */

import type { JsonObject } from '../../../packages/std/src/json.ts';
import type { ApnsPushType, Payload } from '../../domain/notification.ts';

/** The suffix that each type adds to the bundle id to make the topic. */
const TOPIC_SUFFIXES: Readonly<Record<ApnsPushType, string>> = {
  alert: '',
  background: '',
  voip: '.voip',
  complication: '.complication',
  location: '.location-query',
  pushtotalk: '.voip-ptt',
};

/** Members of `aps` that a person notices. */
const SHOWN = ['alert', 'badge', 'sound'] as const;

export const isShown = (aps: JsonObject): boolean => SHOWN.some((name) => aps[name] !== undefined);

/** Whether it wakes the app and shows nothing. */
export const isBackground = (aps: JsonObject): boolean =>
  aps['content-available'] === 1 && !isShown(aps);

interface Label {
  readonly pushType: ApnsPushType;
  readonly topic: string;
  readonly priority: '5' | '10';
}

export function labelOf(
  { apnsPushType, priority = 'high' }: Payload,
  aps: JsonObject,
  bundleId: string,
): Label {
  const pushType = apnsPushType ?? (isBackground(aps) ? 'background' : 'alert');
  const topic = `${bundleId}${TOPIC_SUFFIXES[pushType]}`;
  // Apple: 10 is an error for a background push, and a push to talk needs it.
  const isUrgent = pushType === 'pushtotalk' || (pushType !== 'background' && priority === 'high');
  return { pushType, topic, priority: isUrgent ? '10' : '5' };
}
