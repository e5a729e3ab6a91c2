/**
 * The simulated FCM HTTP v1: receives a message, answers as Google would, and records it
 * (internals/providers.md, "FCM: messages" and "FCM: errors").
 */

import { randomUUID } from 'node:crypto';
import type { Field } from '../../../http2/src/hpack/field.ts';
import { parseObject } from '../../../std/src/json.ts';
import type { Fate, PushBook } from '../faults/fate.ts';
import { decideFate } from '../faults/fate.ts';
import type { ScriptedAnswer } from '../faults/scripts.ts';
import type { AccessTokens } from '../oauth/access-tokens.ts';
import { bearerTokenOf } from '../server/authorization.ts';
import type { Handler, ProviderAnswer, ProviderRequest } from '../server/exchange.ts';
import { BODY_BYTES_MAX } from '../server/exchange.ts';
import { fieldValue, recurringField } from '../server/fields.ts';
import {
  badRequestDetail,
  errorInfoDetail,
  fcmErrorDetail,
  googleErrorAnswer,
  googleHtmlAnswer,
  JSON_TYPE,
  quotaFailureDetail,
} from '../server/google-error.ts';
import type { DeviceField, FcmMessage } from './fcm-message.ts';
import { checkMessage, NOT_VALID } from './fcm-message.ts';
import { targetIn, templateOf } from './fcm-template.ts';
import type { Installations } from './installations.ts';

/** Why a message was refused: for the record, and as an answer. */
interface Refusal {
  readonly reason: string;
  readonly answer: ProviderAnswer;
}

type RequestCheck =
  | { readonly kind: 'valid'; readonly message: FcmMessage }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly target?: string };

const SEND_PATH = /^\/v1\/projects\/([^/]+)\/messages:send$/;

const ACCEPTED_FIELDS: readonly Field[] = [JSON_TYPE];

/** The codes that FCM puts into an FcmError; a scripted reason that is not among them gets none. */
const FCM_ERROR_CODES: ReadonlySet<string> = new Set([
  'UNSPECIFIED_ERROR',
  'INVALID_ARGUMENT',
  'UNREGISTERED',
  'SENDER_ID_MISMATCH',
  'QUOTA_EXCEEDED',
  'UNAVAILABLE',
  'INTERNAL',
  'THIRD_PARTY_AUTH_ERROR',
]);

/** Makes the provider; the clock is a parameter so that access tokens can expire in a test. */
export function createFcm(
  book: PushBook,
  accessTokens: AccessTokens,
  installations: Installations,
  now: () => number = Date.now,
): Handler {
  return (request) => {
    const nowMs = now();
    const check = checkRequest(request, accessTokens, nowMs);
    if (check.kind === 'refused') {
      book.record.reject(check.refusal.reason, check.target, request);
      return check.refusal.answer;
    }
    const { target, kind, validateOnly } = check.message;
    // A dry run reaches no device, so it is not recorded.
    if (validateOnly) return accepted(request, 'fake_message_id', undefined);
    const fate: Fate = installations.isReachedBy(check.message)
      ? decideFate(book, target)
      : { kind: 'gone' };
    const outcome = settle(
      fate,
      kind ?? 'token',
      book.live.current.retryAfterSeconds,
      projectOf(request) ?? '',
    );
    if (outcome === 'silence') {
      book.record.reject('Unanswered', target, request);
      return 'silence';
    }
    if (outcome === 'accepted') {
      book.record.accept(target, request);
      return accepted(request, randomMessageId(nowMs), target);
    }
    if (outcome === 'lost-answer') {
      book.record.accept(target, request);
      book.record.loseAnswer(target);
      return 'silence';
    }
    book.record.reject(outcome.reason, target, request);
    return outcome.answer;
  };
}

/** In the order of Google's layers: the front end, authentication, permission, the message. */
function checkRequest(
  request: ProviderRequest,
  accessTokens: AccessTokens,
  nowMs: number,
): RequestCheck {
  const project = projectOf(request);
  if (project === undefined || request.method !== 'POST') {
    const answer = googleHtmlAnswer(404, 'The requested URL was not found on this server.');
    return { kind: 'refused', refusal: { reason: 'NOT_FOUND', answer } };
  }
  const authorization = fieldValue(request.fields, 'authorization');
  const accessToken = bearerTokenOf(authorization, request.connection);
  if (accessToken === undefined) return { kind: 'refused', refusal: unauthenticated(false) };
  const granted = accessTokens.projectOf(accessToken, nowMs);
  if (granted === undefined) return { kind: 'refused', refusal: unauthenticated(true) };
  if (granted !== project) return { kind: 'refused', refusal: permissionDenied(project) };
  return checkBody(request);
}

/** The project that the path names; undefined when it is not a path for sending. */
function projectOf({ path, connection }: ProviderRequest): string | undefined {
  // Nearly always a connection sends for one project: its path is parsed once.
  const last = connection.fcmPath;
  if (last?.path === path) return last.project;
  const project = SEND_PATH.exec(path)?.[1];
  connection.fcmPath = { path, project };
  return project;
}

function checkBody({ body, connection }: ProviderRequest): RequestCheck {
  if (body.length > BODY_BYTES_MAX) return { kind: 'refused', refusal: tooBig() };
  // A message that differs from the last valid one only in its device is valid, too, and needs no
  // parsing.
  const template = connection.fcmTemplate;
  const device = template === undefined ? undefined : targetIn(body, template);
  if (template !== undefined && device !== undefined) {
    return { kind: 'valid', message: { ...device, validateOnly: template.validateOnly } };
  }
  const json = parseObject(body.toString());
  if (json === undefined) {
    return { kind: 'refused', refusal: invalidArgument('', 'Invalid JSON payload received.') };
  }
  const check = checkMessage(json, body.length);
  switch (check.kind) {
    case 'valid':
      connection.fcmTemplate = templateOf(body, json, check.message.validateOnly);
      return check;
    case 'too-big':
      return { kind: 'refused', refusal: tooBig(), target: check.target };
    case 'invalid': {
      const refusal = invalidArgument(check.fault.field, check.fault.description);
      const { target } = check;
      return { kind: 'refused', refusal, ...(target === undefined ? {} : { target }) };
    }
  }
}

/** The answer of FCM to a fate. */
function settle(
  fate: Fate,
  field: DeviceField,
  retryAfterSeconds: number,
  project: string,
): Refusal | 'accepted' | 'lost-answer' | 'silence' {
  switch (fate.kind) {
    case 'accepted':
    case 'lost-answer':
    case 'silence':
      return fate.kind;
    case 'scripted':
      return fate.script.status === 200 ? 'accepted' : scripted(fate.script);
    case 'gone':
      return fcmError(404, 'UNREGISTERED', 'Requested entity was not found.');
    case 'bad-token':
      return invalidArgument(`message.${field}`, NOT_VALID[field]);
    case 'not-found':
      return fcmError(404, 'NOT_FOUND', 'Requested entity was not found.');
    case 'bad-credential':
      return permissionDenied(project);
    case 'throttled':
      return quotaExceeded(retryAfterSeconds);
    case 'server-error':
      return serverError(fate.variant, retryAfterSeconds);
    case 'bad-gateway':
      return badGateway();
  }
}

function accepted(
  request: ProviderRequest,
  messageId: string,
  acceptedToken: string | undefined,
): ProviderAnswer {
  const project = projectOf(request) ?? '';
  return {
    status: 200,
    fields: ACCEPTED_FIELDS,
    body: `{\n  "name": "projects/${project}/messages/${messageId}"\n}\n`,
    acceptedToken,
  };
}

/** Like FCM's own: the time in microseconds and 16 digits of hex. */
function randomMessageId(nowMs: number): string {
  const id = randomUUID();
  return `0:${nowMs}000%${id.slice(0, 8)}${id.slice(-8)}`;
}

function unauthenticated(hadToken: boolean): Refusal {
  const expected =
    'Expected OAuth 2 access token, login cookie or other valid authentication credential.';
  const message = hadToken
    ? `Request had invalid authentication credentials. ${expected}`
    : `Request is missing required authentication credential. ${expected}`;
  const reason = hadToken ? 'ACCESS_TOKEN_EXPIRED' : 'CREDENTIALS_MISSING';
  const challenge = 'Bearer realm="https://accounts.google.com/"';
  const value = hadToken ? `${challenge}, error="invalid_token"` : challenge;
  const answer = googleErrorAnswer({
    code: 401,
    message,
    details: [errorInfoDetail(reason)],
    fields: [recurringField('www-authenticate', value)],
  });
  return { reason: 'UNAUTHENTICATED', answer };
}

function permissionDenied(project: string): Refusal {
  const resource = `//cloudresourcemanager.googleapis.com/projects/${project}`;
  const message = `Permission 'cloudmessaging.messages.create' denied on resource '${resource}' (or it may not exist).`;
  const details = [errorInfoDetail('IAM_PERMISSION_DENIED')];
  return {
    reason: 'PERMISSION_DENIED',
    answer: googleErrorAnswer({ code: 403, message, details }),
  };
}

function invalidArgument(field: string, description: string): Refusal {
  const details = [badRequestDetail(field, description), fcmErrorDetail('INVALID_ARGUMENT')];
  const answer = googleErrorAnswer({ code: 400, message: description, details });
  return { reason: 'INVALID_ARGUMENT', answer };
}

/**
 * The fault of an oversized message has no details: only its sentence distinguishes it from other
 * faults.
 */
function tooBig(): Refusal {
  const answer = googleErrorAnswer({
    code: 400,
    message: 'Android message is too big',
    details: [],
  });
  return { reason: 'INVALID_ARGUMENT', answer };
}

function quotaExceeded(retryAfterSeconds: number): Refusal {
  const answer = googleErrorAnswer({
    code: 429,
    message: 'Resource has been exhausted (e.g. check quota).',
    details: [fcmErrorDetail('QUOTA_EXCEEDED'), quotaFailureDetail('Message rate')],
    fields: [retryAfter(retryAfterSeconds)],
  });
  return { reason: 'QUOTA_EXCEEDED', answer };
}

/**
 * The three kinds of errors inside of Google: an API that fails, one that is down, a front end
 * without its API.
 */
function serverError(variant: number, retryAfterSeconds: number): Refusal {
  if (variant < 1 / 3) return fcmError(500, 'INTERNAL', 'Internal error encountered.');
  if (variant < 2 / 3) {
    return fcmError(503, 'UNAVAILABLE', 'The service is currently unavailable.', retryAfterSeconds);
  }
  return badGateway();
}

function badGateway(): Refusal {
  const sentence =
    'The server encountered a temporary error and could not complete your request. Please try again in 30 seconds.';
  return { reason: 'BAD_GATEWAY', answer: googleHtmlAnswer(502, sentence) };
}

function scripted(script: ScriptedAnswer): Refusal {
  const reason = script.reason ?? `SCRIPTED_${script.status}`;
  return fcmError(script.status, reason, `Scripted: ${reason}`, script.retryAfterSeconds);
}

function fcmError(
  code: number,
  reason: string,
  message: string,
  retryAfterSeconds?: number,
): Refusal {
  const fields = retryAfterSeconds === undefined ? [] : [retryAfter(retryAfterSeconds)];
  const details = FCM_ERROR_CODES.has(reason) ? [fcmErrorDetail(reason)] : [];
  return { reason, answer: googleErrorAnswer({ code, message, details, fields }) };
}

function retryAfter(seconds: number): Field {
  return recurringField('retry-after', String(seconds));
}
