/** Finds parts of a payload that every browser would refuse or lose. */

import { isObject } from '../../../packages/std/src/json.ts';
import type { Payload } from '../../domain/notification.ts';
import type { PayloadFault } from '../../domain/payload.ts';
import { reservedFaults } from '../fcm/payload-faults.ts';

/** Browsers may have registered with FCM: which ones is not known before the send. */
export const webPushFaults = ({ data, webpush = {} }: Payload): readonly PayloadFault[] => [
  ...reservedFaults('payload.data', data),
  ...(isObject(webpush['headers']) ? [HEADERS] : []),
];

const HEADERS: PayloadFault = {
  path: 'payload.webpush.headers',
  message: "is FCM's form: write ttl, priority and collapseId beside webpush.",
};
