/**
 * Checks the JSON body of an FCM HTTP v1 request as Google's proto-JSON parser does: unknown names
 * and wrong types are refused with the field's name, and names may be in camelCase or snake_case
 * (internals/providers.md, "FCM: messages").
 */

import type { JsonObject } from '../../../std/src/json.ts';
import { isObject } from '../../../std/src/json.ts';

interface FieldFault {
  readonly field: string;
  readonly description: string;
}

export type DeviceField = 'token' | 'fid';

export interface FcmMessage {
  /** The device's token, its installation's id, or the name of an audience. */
  readonly target: string;
  /** Null: an audience. */
  readonly kind: DeviceField | null;
  readonly validateOnly: boolean;
}

type MessageCheck =
  | { readonly kind: 'valid'; readonly message: FcmMessage }
  | { readonly kind: 'invalid'; readonly fault: FieldFault; readonly target?: string }
  /** Google names no field for this fault and gives no details. */
  | { readonly kind: 'too-big'; readonly target: string };

type FieldCheck = (value: unknown, field: string) => FieldFault | undefined;

/**
 * Bytes of the payload for one device. For an audience (a topic, a condition) it is half of that.
 */
const PAYLOAD_BYTES_MAX = 4_096;
const TOPIC_PAYLOAD_BYTES_MAX = 2_048;

const TTL_SECONDS_MAX = 2_419_200;

const TARGETS = ['token', 'topic', 'condition', 'fid'] as const;
const DURATION = /^(\d{1,12})(?:\.\d{1,9})?s$/;
const PRIORITIES = ['NORMAL', 'HIGH', 'normal', 'high'];
const NOTIFICATION_PRIORITIES = ['UNSPECIFIED', 'MIN', 'LOW', 'DEFAULT', 'HIGH', 'MAX'].map(
  (name) => `PRIORITY_${name}`,
);
const INT32_MAX = 2_147_483_647;
const RESERVED_DATA_KEY = /^(?:from$|message_type$|google\.|gcm\.notification\.)/;

/** Spaces and control characters. Quotes and backslashes are unusual in a token, but allowed. */
const NOT_IN_TOKEN = /[\s\p{Cc}]/u;

/** The descriptions for an invalid device. */
export const NOT_VALID: Readonly<Record<DeviceField, string>> = {
  token: 'The registration token is not a valid FCM registration token',
  fid: 'The installation ID is not a valid Firebase installation ID',
};

/** 22 characters of base64url whose first four bits are 0111. */
const INSTALLATION_ID = /^[c-f][\w-]{21}$/;

export const isInstallationId = (value: unknown): value is string =>
  typeof value === 'string' && INSTALLATION_ID.test(value);

const checkEnvelope = fields({
  validateOnly: flag,
  message: fields({
    name: text,
    data,
    notification: fields({ title: text, body: text, image: text }),
    android: fields({
      collapseKey: text,
      priority: oneOf('AndroidMessagePriority', PRIORITIES),
      ttl,
      restrictedPackageName: text,
      data,
      notification: androidNotification(),
      fcmOptions: object,
      directBootOk: flag,
      bandwidthConstrainedOk: flag,
      restrictedSatelliteOk: flag,
    }),
    apns: fields({
      headers: stringMap,
      payload: object,
      fcmOptions: object,
      liveActivityToken: text,
    }),
    webpush: fields({
      headers: stringMap,
      data: stringMap,
      notification: object,
      fcmOptions: object,
    }),
    fcmOptions: object,
    token,
    topic: text,
    condition: text,
    fid,
  }),
});

/** AndroidNotification of the FCM HTTP v1 reference. */
function androidNotification(): FieldCheck {
  const texts = ['title', 'body', 'icon', 'color', 'sound', 'tag', 'clickAction', 'image'];
  const localised = ['bodyLocKey', 'titleLocKey', 'channelId', 'ticker', 'eventTime'];
  const flags = ['sticky', 'localOnly', 'bypassProxyNotification'];
  const defaults = ['defaultSound', 'defaultVibrateTimings', 'defaultLightSettings'];
  return fields({
    ...Object.fromEntries([...texts, ...localised].map((name) => [name, text])),
    ...Object.fromEntries([...flags, ...defaults].map((name) => [name, flag])),
    ...Object.fromEntries(
      ['bodyLocArgs', 'titleLocArgs', 'vibrateTimings'].map((name) => [name, textList]),
    ),
    notificationPriority: oneOf('NotificationPriority', NOTIFICATION_PRIORITIES),
    visibility: oneOf('Visibility', ['VISIBILITY_UNSPECIFIED', 'PRIVATE', 'PUBLIC', 'SECRET']),
    proxy: oneOf('Proxy', ['PROXY_UNSPECIFIED', 'ALLOW', 'DENY', 'IF_PRIORITY_LOWERED']),
    notificationCount: wholeNumber,
    lightSettings: object,
  });
}

/**
 * The target of a body that FCM would accept, or the first fault. `bodyBytes` saves measuring small
 * payloads.
 */
export function checkMessage(body: JsonObject, bodyBytes: number): MessageCheck {
  const message = body['message'];
  const target = isObject(message) ? targetOf(message) : undefined;
  const named = target === undefined ? {} : { target };
  const fault = checkEnvelope(body, '');
  if (fault !== undefined) return { kind: 'invalid', fault, ...named };
  if (!isObject(message)) return invalid('message', 'Message is not set.');
  const targets = TARGETS.filter((name) => isSet(message[name]));
  if (targets.length > 1) {
    const description = `Invalid value (oneof), oneof field 'target' is already set. Cannot set '${targets[1]}'`;
    return { kind: 'invalid', fault: { field: `message.${targets[1]}`, description }, ...named };
  }
  if (target === undefined) return invalid('message', 'Recipient of the message is not set.');
  const [field] = targets;
  const kind = field === 'token' || field === 'fid' ? field : null;
  const bytesMax = kind === null ? TOPIC_PAYLOAD_BYTES_MAX : PAYLOAD_BYTES_MAX;
  if (bodyBytes > bytesMax && payloadBytes(message) > bytesMax) return { kind: 'too-big', target };
  const validateOnly = (body['validateOnly'] ?? body['validate_only']) === true;
  return { kind: 'valid', message: { target, kind, validateOnly } };
}

function invalid(field: string, description: string): MessageCheck {
  return { kind: 'invalid', fault: { field, description } };
}

/**
 * The name under which a message is recorded: a token as it is, a topic in the form of the legacy
 * API.
 */
function targetOf(message: JsonObject): string | undefined {
  const { token: deviceToken, topic, condition, fid } = message;
  if (typeof topic === 'string') return `/topics/${topic}`;
  return [deviceToken, condition, fid].find(
    (value): value is string => typeof value === 'string' && value !== '',
  );
}

/** Only parts that travel to the device count against the limit, not the routing around them. */
function payloadBytes(message: JsonObject): number {
  const android = isObject(message['android']) ? message['android'] : {};
  const parts = [
    message['data'],
    message['notification'],
    android['data'],
    android['notification'],
  ];
  return parts.reduce<number>(
    (bytes, part) => bytes + (part === undefined ? 0 : Buffer.byteLength(JSON.stringify(part))),
    0,
  );
}

/** A check for an object with these fields and no others, each in camelCase or snake_case. */
function fields(checks: Readonly<Record<string, FieldCheck>>): FieldCheck {
  const spelled = new Map<string, string>();
  for (const name of Object.keys(checks)) {
    spelled.set(name, name);
    spelled.set(
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      name,
    );
  }
  return (value, field) => {
    if (!isObject(value)) return typeFault(field, 'a message', value);
    const seen = new Set<string>();
    for (const name of Object.keys(value)) {
      // Proto JSON takes null for a field that is not set.
      if (!isSet(value[name])) continue;
      const known = spelled.get(name) ?? '';
      const check = checks[known];
      if (check === undefined || seen.has(known)) {
        const why = check === undefined ? 'Cannot find field.' : 'The field is set already.';
        const description = `Invalid JSON payload received. Unknown name "${name}" at '${field}': ${why}`;
        return { field, description };
      }
      seen.add(known);
      const fault = check(value[name], field === '' ? name : `${field}.${name}`);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function text(value: unknown, field: string): FieldFault | undefined {
  return typeof value === 'string' ? undefined : typeFault(field, 'TYPE_STRING', value);
}

function flag(value: unknown, field: string): FieldFault | undefined {
  return typeof value === 'boolean' ? undefined : typeFault(field, 'TYPE_BOOL', value);
}

function object(value: unknown, field: string): FieldFault | undefined {
  return isObject(value) ? undefined : typeFault(field, 'a message', value);
}

/** Google names the entry of a map by its position: `message.data[0].value`. */
function stringMap(value: unknown, field: string): FieldFault | undefined {
  if (!isObject(value)) return typeFault(field, 'a map', value);
  const wrong = Object.values(value).findIndex((entry) => typeof entry !== 'string');
  if (wrong === -1) return undefined;
  return typeFault(`${field}[${wrong}].value`, 'TYPE_STRING', Object.values(value)[wrong]);
}

function data(value: unknown, field: string): FieldFault | undefined {
  const fault = stringMap(value, field);
  if (fault !== undefined || !isObject(value)) return fault;
  const reserved = Object.keys(value).find((key) => RESERVED_DATA_KEY.test(key));
  if (reserved === undefined) return undefined;
  return { field, description: `Invalid data payload key: ${reserved}` };
}

function textList(value: unknown, field: string): FieldFault | undefined {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
    ? undefined
    : typeFault(field, 'TYPE_STRING', value);
}

/** Proto JSON takes a number of 32 bits as a text too. */
function wholeNumber(value: unknown, field: string): FieldFault | undefined {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && Math.abs(number) <= INT32_MAX
    ? undefined
    : typeFault(field, 'TYPE_INT32', value);
}

/** `type`: the name of the enumeration in FCM's API. */
function oneOf(type: string, values: readonly string[]): FieldCheck {
  return (value, field) =>
    typeof value === 'string' && values.includes(value)
      ? undefined
      : typeFault(field, `type.googleapis.com/google.firebase.fcm.v1.${type}`, value);
}

function ttl(value: unknown, field: string): FieldFault | undefined {
  const seconds = typeof value === 'string' ? DURATION.exec(value)?.[1] : undefined;
  if (seconds === undefined) {
    const description = `Illegal duration format; duration must end with 's' and be at most ${TTL_SECONDS_MAX}s`;
    return { field, description };
  }
  if (Number(seconds) <= TTL_SECONDS_MAX) return undefined;
  return { field, description: `Invalid TTL: at most ${TTL_SECONDS_MAX} seconds` };
}

function token(value: unknown, field: string): FieldFault | undefined {
  const isToken = typeof value === 'string' && value !== '' && !NOT_IN_TOKEN.test(value);
  return isToken ? undefined : { field, description: NOT_VALID.token };
}

function fid(value: unknown, field: string): FieldFault | undefined {
  return isInstallationId(value) ? undefined : { field, description: NOT_VALID.fid };
}

function typeFault(field: string, type: string, value: unknown): FieldFault {
  return { field, description: `Invalid value at '${field}' (${type}), ${JSON.stringify(value)}` };
}
