/** Checks a payload and brings it into its common form (internals/interface.md, "Payload"). */

import { z } from 'zod';
import type { JsonObject } from '../../packages/std/src/json.ts';
import { asObject, hasTooManyValues, isObject, parseJson } from '../../packages/std/src/json.ts';
import type { LocalisedPayloads } from './localised-payload.ts';
import { furtherTexts, localise } from './localised-payload.ts';
import type { LanguagePayload, Payload } from './notification.ts';
import { APNS_PUSH_TYPES } from './notification.ts';
import { boundsFault, PAYLOAD_TOO_LONG, TTL_SECONDS_MAX } from './payload-bounds.ts';
import { digitFaults } from './payload-digits.ts';
import { boolean, object, text, wholeNumber } from './payload-forms.ts';
import { isPresentation, presentation } from './presentation.ts';

export interface PayloadFault {
  /** `payload`, or the field of it: `payload.badge`. */
  readonly path: string;
  readonly message: string;
}

type PayloadResult =
  | { readonly ok: true; readonly payload: Payload }
  | { readonly ok: false; readonly faults: readonly PayloadFault[] };

/**
 * APNs: `apns-collapse-id` holds 64 bytes.
 * @publisherLimit `collapseId` → `400`
 */
const COLLAPSE_ID_BYTES_MAX = 64;

type GivenPayload =
  | { readonly ok: true; readonly given: JsonObject }
  | { readonly ok: false; readonly faults: readonly PayloadFault[] };

/** The payload as its publisher wrote it: a string holding JSON, or the object itself. */
export function givenPayload(value: unknown): GivenPayload {
  if (typeof value === 'string' && hasTooManyValues(value))
    return fault('payload', PAYLOAD_TOO_LONG);
  const read = asObject(typeof value === 'string' ? parseJson(value) : value);
  if (read === undefined && typeof value === 'string')
    return fault('payload', 'is not valid JSON.');
  if (!isObject(read))
    return fault('payload', 'must be an object, or a string that holds one as JSON.');
  const found = boundsFault(read, furtherTexts(read));
  if (found !== null) return fault('payload', found);
  const changed = typeof value === 'string' ? digitFaults(value) : [];
  return changed.length === 0 ? { ok: true, given: read } : { ok: false, faults: changed };
}

/** The common form of a payload that can be sent. One without any effect is a fault. */
export function sendablePayload(given: JsonObject): PayloadResult {
  const parsed = commonForm(given);
  return parsed.ok && showsNothing(parsed.payload) ? fault('payload', PAYLOAD_EMPTY) : parsed;
}

const PAYLOAD_EMPTY =
  'shows nothing on any platform and carries nothing: give it a title or a message, or data, or make it silent.';

export function commonForm(given: JsonObject): PayloadResult {
  const localised = localise(given);
  switch (localised.kind) {
    case 'plain':
      return inOneLanguage(given);
    case 'invalid':
      return { ok: false, faults: localised.faults };
    case 'localised':
      return inLanguages(localised.whole, localised.languages);
  }
}

/** Each language is read once, however many tags have it, and all share their data. */
function inLanguages(whole: JsonObject, localised: LocalisedPayloads): PayloadResult {
  const first = inOneLanguage(whole);
  if (!first.ok) return first;
  const read = new Map([[whole, first.payload]]);
  const languages: LanguagePayload[] = [];
  for (const { given, ...of } of localised) {
    const known = read.get(given);
    const one = known === undefined ? inOneLanguage(given, first.payload.data) : null;
    if (one !== null && !one.ok) return one;
    const payload = known ?? one?.payload ?? first.payload;
    read.set(given, payload);
    languages.push({ ...of, payload });
  }
  return { ok: true, payload: { ...first.payload, languages } };
}

/** `knownData`: of the same payload in another language. */
function inOneLanguage(given: JsonObject, knownData?: Payload['data']): PayloadResult {
  const { known, unknown } = split(given);
  const parsed = payloadFields.safeParse(known);
  if (!parsed.success) return { ok: false, faults: parsed.error.issues.map(faultOf) };

  const { ttl, data: explicit = {}, ...rest } = parsed.data;
  const data = knownData ?? Object.fromEntries([...unknown, ...Object.entries(explicit)]);
  return {
    ok: true,
    payload: { ...rest, ...(ttl === undefined ? {} : { ttlSeconds: ttl }), data },
  };
}

/** It shows nothing on any platform, is not silent, and has no data for the app. */
function showsNothing({ data, silent, ...rest }: Payload): boolean {
  const { title, message, badge, sound, image, url, present = {}, apns, fcm, webpush } = rest;
  return (
    silent !== true &&
    badge === undefined &&
    present.appBadge === undefined &&
    [title, message, sound, image, url, present.subtitle].every(
      (text) => text === undefined || text === '',
    ) &&
    [data, apns, fcm, webpush].every((made) => Object.keys(made ?? {}).length === 0)
  );
}

const PRINTABLE_ASCII = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

export const payloadFields = z.object({
  title: text.exactOptional(),
  message: text.exactOptional(),
  url: text.exactOptional(),
  image: text.exactOptional(),
  badge: wholeNumber(0, 2_147_483_647).exactOptional(),
  sound: text.exactOptional(),
  ttl: wholeNumber(0, TTL_SECONDS_MAX, '; it is in seconds').exactOptional(),
  priority: z
    .preprocess(
      (value) => (typeof value === 'string' ? value.toLowerCase() : value),
      z.enum(['high', 'normal'], { error: 'must be "high" or "normal".' }),
    )
    .exactOptional(),
  collapseId: text
    .refine((value) => Buffer.byteLength(value) <= COLLAPSE_ID_BYTES_MAX, {
      error: `must be ${COLLAPSE_ID_BYTES_MAX} bytes or less.`,
    })
    .refine((value) => PRINTABLE_ASCII.test(value), {
      error: 'must be printable ASCII without spaces around it: APNs takes it as a header.',
    })
    .exactOptional(),
  silent: boolean.exactOptional(),
  data: object.exactOptional(),
  present: presentation.exactOptional(),
  apnsPushType: z
    .enum(APNS_PUSH_TYPES, { error: `must be one of ${APNS_PUSH_TYPES.join(', ')}.` })
    .exactOptional(),
  apns: object.exactOptional(),
  fcm: object.exactOptional(),
  webpush: object.exactOptional(),
});

const KNOWN: ReadonlySet<string> = new Set(Object.keys(payloadFields.shape));

/** Whether a payload has a field of this name that becomes more than data. */
export const isPayloadField = (name: string): boolean => KNOWN.has(name) || name === 'body';

/** Splits known fields (null counts as absent, `body` as `message`) from data. */
function split(read: JsonObject): {
  readonly known: JsonObject;
  readonly unknown: readonly (readonly [string, unknown])[];
} {
  const known: Record<string, unknown> = {};
  const unknown: (readonly [string, unknown])[] = [];
  for (const [key, value] of Object.entries(read)) {
    if (key === 'body') continue;
    const isData = !KNOWN.has(key) || (key === 'present' && !isPresentation(value));
    if (isData) unknown.push([key, value]);
    else if (value !== null) known[key] = value;
  }
  const body = read['body'];
  if (known['message'] === undefined && body !== undefined && body !== null)
    known['message'] = body;
  return { known, unknown };
}

const faultOf = (issue: z.core.$ZodIssue): PayloadFault => ({
  path: ['payload', ...issue.path].join('.'),
  message: issue.message,
});

const fault = (path: string, message: string) => ({
  ok: false as const,
  faults: [{ path, message }],
});
