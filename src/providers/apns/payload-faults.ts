/** Faults of a payload that APNs would refuse for every device, and effects that no phone shows. */

import { asObject, isObject } from '../../../packages/std/src/json.ts';
import type { Payload } from '../../domain/notification.ts';
import type { PayloadFault } from '../../domain/payload.ts';
import { apsOf } from './message.ts';
import { isBackground, isShown } from './push-type.ts';

const FCM_FORMS = {
  headers:
    "is FCM's form: write ttl, priority, collapseId and apnsPushType beside apns. Data of this name goes into data.",
  payload: "is FCM's form: write its members directly in apns. Data of this name goes into data.",
} as const;

const HEADER = /^apns-/i;

export function apnsFaults(payload: Payload): readonly PayloadFault[] {
  const { data, apns = {}, apnsPushType } = payload;
  const fault = (path: string, message: string): PayloadFault => ({
    path: `payload.${path}`,
    message,
  });
  return [
    ...(isObject(asObject(apns['aps'] ?? {})) ? [] : [fault('apns.aps', 'must be an object.')]),
    ...(Object.hasOwn(data, 'aps')
      ? [fault('data.aps', 'is reserved by APNs; write it as payload.apns.aps.')]
      : []),
    ...(['headers', 'payload'] as const)
      .filter((name) => isObject(apns[name]))
      .map((name) => fault(`apns.${name}`, FCM_FORMS[name])),
    ...Object.keys(apns)
      .filter((name) => HEADER.test(name))
      .map((name) =>
        fault(`apns.${name}`, 'is a header: write ttl, priority, collapseId or apnsPushType.'),
      ),
    ...(apnsPushType === 'background' && !isBackground(apsOf(payload))
      ? [fault('apnsPushType', BACKGROUND)]
      : []),
  ];
}

const BACKGROUND =
  'cannot be "background" of a push that shows something: make it silent, or leave apnsPushType out.';

/** Apple: an `aps` without any of these does nothing, and the app is not woken. */
export function apnsWarning(payload: Payload): string | null {
  if (payload.apnsPushType !== undefined) return null;
  const aps = apsOf(payload);
  return isShown(aps) || isBackground(aps) ? null : NOTHING;
}

const NOTHING =
  'On iOS this does nothing: without title, message, badge or sound nothing is shown, and without silent the app is not woken.';
