/** The body of a push: a checked Push, or all its faults (internals/interface.md). */

import { foreignText } from '../../../packages/std/src/foreign-text.ts';
import type { JsonObject } from '../../../packages/std/src/json.ts';
import { changedNumbers } from '../../../packages/std/src/json-numbers.ts';
import { PLATFORM_CHOICE } from '../../../packages/std/src/platforms.ts';
import type { AudienceExpression } from '../../domain/audience-expression.ts';
import { readExpression } from '../../domain/audience-expression.ts';
import { isPlatformId } from '../../domain/device.ts';
import type { Selector } from '../../domain/notification.ts';
import { bySelector, SELECTOR_NAMES, SELECTORS } from '../../domain/notification.ts';
import { givenPayload, isPayloadField, sendablePayload } from '../../domain/payload.ts';
import { isPassedOnIn } from '../../domain/payload-digits.ts';
import { categoryName } from '../../domain/policies.ts';
import {
  DEFAULT_PUSH_OPTIONS,
  PUSH_OPTION_FIELDS,
  readPushOptions,
} from '../../domain/push-options.ts';
import { TAGS_PER_REQUEST_MAX } from '../../domain/tag.ts';
import { parseObject } from '../../http/json-body.ts';
import { LenientReader } from '../../http/lenient.ts';
import type { Fault } from '../../http/problem.ts';
import { isStorable } from '../../std/name-text.ts';
import { nearestName } from '../../std/nearest-name.ts';
import type { Push, TagReferences } from '../accept/push.ts';
import { LOCAL_TIME_FIELDS, readLocalTime } from './waves.ts';

/** @publisherLimit `holdSeconds` of a push → `400` */
export const HOLD_SECONDS_MAX = 3_600;

export interface AskedPush {
  readonly push: Push;
  readonly isDryRun: boolean;
  /** Whether its audience is to be counted by a sample. */
  readonly isApproximate: boolean;
}

export type PushRequest =
  | ({ readonly ok: true } & AskedPush)
  | { readonly ok: false; readonly faults: readonly Fault[] };

export function readPushRequest(body: Buffer): PushRequest {
  const parsed = parseObject(body);
  if (!parsed.ok) return parsed;
  const read = parsed.value;
  const reader = new LenientReader(read);
  const audience = readAudience(reader, read);
  const due = readDue(reader, reader.time('sendAt'));
  const { sendAtMs } = due;
  const localTime = readLocalTime(reader, read);
  const expiresAtMs = reader.time('expiresAt');
  const isDryRun = reader.flag('dryRun');
  const options = readPushOptions(reader);
  const category = readCategory(reader, read);
  const given = givenPayload(read['payload']);
  const payload = given.ok ? payloadOf(given.given) : null;

  if (sendAtMs !== null && expiresAtMs !== null && expiresAtMs <= sendAtMs) {
    reader.fault('expiresAt', 'must be later than sendAt.');
  }
  if (!reader.isGiven('payload')) reader.fault('payload', PAYLOAD_MISSING);
  else if (!given.ok) reader.faults.push(...given.faults);
  else reader.faults.push(...changedNumbers(parsed.text, isPassedOnIn('payload')).map(asSentence));
  reader.faults.push(...unknownFieldFaults(read, FIELDS, 'a push'));
  if (payload === null || reader.faults.length > 0) {
    return { ok: false, faults: [...reader.faults, ...(payload?.formFaults ?? [])] };
  }
  return {
    ok: true,
    push: {
      ...audience,
      options,
      ...category,
      ...due,
      ...(localTime === undefined ? {} : { localTime }),
      expiresAtMs,
      ...payload,
    },
    isDryRun,
    isApproximate: false,
  };
}

/** The category, and whether its caps hold: what is absent asks for nothing of it. */
function readCategory(
  reader: LenientReader,
  { category }: Readonly<Record<string, unknown>>,
): Pick<Push, 'category' | 'ignoresCaps'> {
  const ignores = reader.choice('caps', CAPS_CHOICE) === 'ignore';
  const read = categoryName.nullish().safeParse(category);
  if (!read.success) reader.fault('category', `${read.error.issues[0]?.message ?? 'is wrong'}.`);
  return {
    ...(typeof read.data === 'string' ? { category: read.data } : {}),
    ...(ignores ? { ignoresCaps: true } : {}),
  };
}

export const CAPS_CHOICE = ['respect', 'ignore'] as const;

export type PushPayload = Pick<Push, 'payload' | 'formFaults'> & { readonly given: JsonObject };

/** A template may make something of a payload that is no push: whether one does is known later. */
export function payloadOf(given: JsonObject): PushPayload {
  const sendable = sendablePayload(given);
  return sendable.ok
    ? { given, payload: sendable.payload }
    : { given, payload: { data: given }, formFaults: sendable.faults };
}

/** When it is to be sent: the time that is given, or so many seconds from now. Null: now. */
export function readDue(
  reader: LenientReader,
  sendAtMs: number | null,
): Pick<Push, 'sendAtMs' | 'holdSeconds'> {
  const holdSeconds = reader.whole('holdSeconds', 1, HOLD_SECONDS_MAX);
  if (holdSeconds === null) return { sendAtMs };
  if (sendAtMs !== null) reader.fault('holdSeconds', 'cannot stand beside sendAt.');
  return { sendAtMs: Date.now() + holdSeconds * 1_000, holdSeconds };
}

/** A push of nothing to the audience that a body names: to be counted, never to be sent. */
export function readAudienceRequest(body: Buffer): PushRequest {
  const parsed = parseObject(body);
  if (!parsed.ok) return parsed;
  const read = parsed.value;
  const reader = new LenientReader(read);
  const audience = readAudience(reader, read);
  const isApproximate = reader.flag('approximate');
  const category = readCategory(reader, read);
  const fields = [...AUDIENCE_FIELDS, 'approximate', 'category', 'caps'] as const;
  reader.faults.push(...unknownFieldFaults(read, fields, 'an audience'));
  if (reader.faults.length > 0) return { ok: false, faults: reader.faults };
  const push = { ...audience, ...category, ...NOTHING, options: DEFAULT_PUSH_OPTIONS };
  return { ok: true, push, isDryRun: true, isApproximate };
}

const NOTHING = { payload: { data: {} }, sendAtMs: null, expiresAtMs: null } as const;

/** A push of nothing to the audience of an expression: to be counted, never to be sent. */
export const pushTo = (expression: AudienceExpression): Push => ({
  ...bySelector(() => ({ ids: [], sourceIds: [] })),
  expression,
  appIds: null,
  platformIds: null,
  ...NOTHING,
  options: DEFAULT_PUSH_OPTIONS,
});

function readAudience(
  reader: LenientReader,
  body: Readonly<Record<string, unknown>>,
): Pick<Push, Selector | 'appIds' | 'platformIds' | 'expression'> {
  const selected = bySelector((selector) => ({
    ids: reader.ids(SELECTORS[selector].ids),
    sourceIds: reader.texts(SELECTORS[selector].sourceIds),
  }));
  const appIds = readSome(reader, body, 'appIds', 'app');
  const platformIds = readPlatformIds(reader, body);
  if (body['audience'] !== undefined && body['audience'] !== null) {
    return { ...selected, appIds, platformIds, ...readAudienceExpression(reader, body) };
  }
  if (!reader.isGiven('tagIds') && !reader.isGiven('tagSourceIds')) {
    reader.fault('tagIds', 'At least one of tagIds and tagSourceIds is needed, or audience.');
  }
  if (countOf(Object.values(selected)) > TAGS_PER_REQUEST_MAX) {
    reader.fault('', `At most ${TAGS_PER_REQUEST_MAX} tags may be named in a request.`);
  }
  return { ...selected, appIds, platformIds };
}

/** The expression in place of the selections; nothing where it is faulty. */
function readAudienceExpression(
  reader: LenientReader,
  body: Readonly<Record<string, unknown>>,
): Pick<Push, 'expression'> {
  const beside = SELECTOR_FIELDS.filter((name) => body[name] !== undefined && body[name] !== null);
  for (const name of beside) reader.fault(name, 'cannot stand beside audience: say it there.');
  const text = body['audience'];
  if (typeof text !== 'string' || !isStorable(text)) {
    reader.fault('audience', 'must be an expression over tags: a string without NUL.');
    return {};
  }
  const read = readExpression(text);
  if (read.ok) return { expression: read.expression };
  reader.faults.push({ path: 'audience', ...read.fault });
  return {};
}

/** Null: all of them. */
export function readPlatformIds(
  reader: LenientReader,
  body: Readonly<Record<string, unknown>>,
): readonly number[] | null {
  const ids = readSome(reader, body, 'platformIds', 'platform');
  for (const id of ids ?? []) {
    if (!isPlatformId(id)) reader.fault('platformIds', `must be of ${PLATFORM_CHOICE}, not ${id}.`);
  }
  return ids;
}

export const asSentence = ({ path, message }: Fault): Fault => ({ path, message: `${message}.` });

const PAYLOAD_MISSING = 'is missing; it must be an object, or a string that holds one as JSON.';

/** Null: all of them. An empty list is refused: its author did not mean all. */
function readSome(
  reader: LenientReader,
  body: Readonly<Record<string, unknown>>,
  field: 'appIds' | 'platformIds',
  what: string,
): readonly number[] | null {
  if (body[field] === undefined || body[field] === null) return null;
  const faultsBefore = reader.faults.length;
  const ids = reader.ids(field);
  if (ids.length === 0 && reader.faults.length === faultsBefore) {
    reader.fault(field, `names no ${what}; leave it out to address every ${what}.`);
  }
  return ids;
}

const countOf = (references: readonly TagReferences[]): number =>
  references.reduce((count, { ids, sourceIds }) => count + ids.length + sourceIds.length, 0);

const SELECTOR_FIELDS = SELECTOR_NAMES.flatMap((selector) => [
  SELECTORS[selector].ids,
  SELECTORS[selector].sourceIds,
]) as readonly string[] as readonly [string, ...string[]];
const AUDIENCE_FIELDS = [...SELECTOR_FIELDS, 'audience', 'appIds', 'platformIds'] as const;
const FIELDS = [
  ...AUDIENCE_FIELDS,
  'payload',
  'sendAt',
  'holdSeconds',
  ...LOCAL_TIME_FIELDS,
  'expiresAt',
  ...PUSH_OPTION_FIELDS,
  'category',
  'caps',
  'dryRun',
] as const;
/** @limit unknown fields of a push that are reported → not reported */
const UNKNOWN_FIELDS_MAX = 100;

/** Overlooked, an exclusion widens the audience, a dry run sends. `what`: what has the fields. */
export const unknownFieldFaults = (
  body: Readonly<Record<string, unknown>>,
  fields: readonly [string, ...string[]],
  what: string,
): readonly Fault[] =>
  Object.keys(body)
    .filter((name) => !fields.includes(name))
    .slice(0, UNKNOWN_FIELDS_MAX)
    .map((name) => ({
      path: foreignText(name, NAME_LENGTH_MAX),
      message: whyUnknown(name, fields, what),
    }));

/** @limit the name of an unknown field of a push → cut */
const NAME_LENGTH_MAX = 64;

function whyUnknown(name: string, fields: readonly [string, ...string[]], what: string): string {
  if (fields.includes('payload') && isPayloadField(name)) {
    return 'belongs in payload, not beside it.';
  }
  return `is not a field of ${what}; the nearest is ${nearestName(name, fields)}.`;
}
