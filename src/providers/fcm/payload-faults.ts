/** Faults of a payload that FCM would refuse for every device: reserved names, misplaced fields. */

import type { JsonObject } from '../../../packages/std/src/json.ts';
import { isObject } from '../../../packages/std/src/json.ts';
import type { Payload } from '../../domain/notification.ts';
import type { PayloadFault } from '../../domain/payload.ts';
import { TTL_SECONDS_MAX } from '../../domain/payload-bounds.ts';

const RESERVED: ReadonlySet<string> = new Set(['from', 'message_type', 'google', 'gcm']);

/** Google names the prefixes with their dots; the legacy API reserved what began with the words. */
export const isReservedByFcm = (key: string): boolean =>
  RESERVED.has(key) || key.startsWith('google.') || key.startsWith('gcm.notification.');

export const reservedFaults = (path: string, data: unknown): readonly PayloadFault[] =>
  (isObject(data) ? Object.keys(data) : []).filter(isReservedByFcm).map((key) => ({
    path: `${path}.${key}`,
    message: `"${key}" is reserved by FCM and cannot be the name of a data entry.`,
  }));

/** Fields that are not those of a message: of the request around it, or of the legacy API. */
const MISPLACED: Readonly<Record<string, string>> = {
  message: 'is what fcm itself is: write its members directly in fcm.',
  validate_only: 'is no field of a message: leave it out, and use dryRun.',
  validateOnly: 'is no field of a message: leave it out, and use dryRun.',
  priority: 'belongs in fcm.android, or write priority beside fcm.',
  ttl: 'belongs in fcm.android, or write ttl beside fcm.',
  time_to_live: 'is of the legacy API: write ttl beside fcm.',
  collapse_key: 'belongs in fcm.android, or write collapseId beside fcm.',
  collapseKey: 'belongs in fcm.android, or write collapseId beside fcm.',
  registration_ids: 'is of the legacy API: the devices are those of the tags.',
  to: 'is of the legacy API: the devices are those of the tags.',
};

export function fcmFaults({ data, fcm = {}, collapseId }: Payload): readonly PayloadFault[] {
  const android = isObject(fcm['android']) ? fcm['android'] : {};
  return [
    ...reservedFaults('payload.data', data),
    ...reservedFaults('payload.fcm.data', fcm['data']),
    ...reservedFaults('payload.fcm.android.data', android['data']),
    ...Object.keys(fcm)
      .filter((name) => Object.hasOwn(MISPLACED, name))
      .map((name) => ({ path: `payload.fcm.${name}`, message: MISPLACED[name] ?? '' })),
    ...collapseKeyFaults(android, collapseId),
    ...ttlFaults(android['ttl']),
    ...priorityFaults(android['priority']),
  ];
}

/** FCM refuses a field that is there in both of its spellings. */
const collapseKeyFaults = (android: JsonObject, collapseId?: string): readonly PayloadFault[] =>
  android['collapseKey'] !== undefined &&
  (android['collapse_key'] !== undefined || collapseId !== undefined)
    ? [
        {
          path: 'payload.fcm.android.collapseKey',
          message: 'is collapse_key in another spelling, which collapseId makes: give one of them.',
        },
      ]
    : [];

const DURATION = /^(\d{1,12})(?:\.\d{1,9})?s$/;

function ttlFaults(ttl: unknown): readonly PayloadFault[] {
  if (ttl === undefined || ttl === null) return [];
  const seconds = typeof ttl === 'string' ? DURATION.exec(ttl)?.[1] : undefined;
  if (seconds !== undefined && Number(seconds) <= TTL_SECONDS_MAX) return [];
  const message = `must be seconds with their unit, such as "3600s", ${TTL_SECONDS_MAX} at most; milliseconds are of Google's libraries.`;
  return [{ path: 'payload.fcm.android.ttl', message }];
}

const PRIORITIES: ReadonlySet<unknown> = new Set(['HIGH', 'NORMAL', 'high', 'normal']);

const priorityFaults = (priority: unknown): readonly PayloadFault[] =>
  priority === undefined || priority === null || PRIORITIES.has(priority)
    ? []
    : [{ path: 'payload.fcm.android.priority', message: 'must be "HIGH" or "NORMAL".' }];
