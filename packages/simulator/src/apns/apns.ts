/**
 * The simulated Apple Push Notification service: receives a request, answers as Apple would, and
 * records it.
 */

import { randomUUID } from 'node:crypto';
import type { Field } from '../../../http2/src/hpack/field.ts';
import type { AccountBook } from '../account-book.ts';
import type { Fate, PushBook } from '../faults/fate.ts';
import { decideFate } from '../faults/fate.ts';
import type { ScriptedAnswer } from '../faults/scripts.ts';
import { bearerTokenOf } from '../server/authorization.ts';
import type { Handler, ProviderAnswer, ProviderRequest } from '../server/exchange.ts';
import { recurringField, singularField } from '../server/fields.ts';
import { googleHtmlAnswer } from '../server/google-error.ts';
import type { ApnsFields } from './apns-fields.ts';
import type { ApnsReason } from './apns-reasons.ts';
import { APNS_REASONS } from './apns-reasons.ts';
import { checkPush, checkRequestLine, fieldsOf } from './apns-request.ts';
import { ProviderTokens } from './apns-token.ts';
import { deviceTokenOf } from './device-token.ts';

/** Why a push was refused, and, if its token is dead, since when. */
interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly timestampMs?: number;
  readonly retryAfterSeconds?: number;
}

const JSON_TYPE = recurringField('content-type', 'application/json');

/** Makes the provider; the clock is a parameter so that tokens can grow old in a test. */
export function createApns(
  book: PushBook,
  accounts: AccountBook,
  now: () => number = Date.now,
): Handler {
  const providerTokens = new ProviderTokens(accounts);
  return (request) => {
    const nowMs = now();
    const fields = fieldsOf(request);
    const token = deviceTokenOf(request.path);
    const fault = checkRequest(request, fields, token, { accounts, providerTokens, nowMs });
    if (fault !== undefined || token === undefined) {
      const reason = fault ?? 'BadDeviceToken';
      book.record.reject(reason, token, request);
      return answer(fields, { status: APNS_REASONS[reason], reason });
    }
    const outcome = outcomeOf(decideFate(book, token), nowMs);
    switch (outcome) {
      case 'silence':
        book.record.reject('Unanswered', token, request);
        return 'silence';
      case 'lost-answer':
        book.record.accept(token, request);
        book.record.loseAnswer(token);
        return 'silence';
      case 'accepted':
        book.record.accept(token, request);
        return accepted(fields, token);
      case 'bad-gateway':
        book.record.reject('BadGateway', token, request);
        return googleHtmlAnswer(502, 'Bad Gateway');
      default:
        book.record.reject(outcome.reason, token, request);
        return answer(fields, outcome);
    }
  };
}

/** The data for judging a request. */
interface Judge {
  readonly accounts: AccountBook;
  readonly providerTokens: ProviderTokens;
  readonly nowMs: number;
}

/** The first fault of a request; a valid one binds its connection to the team that sent it. */
function checkRequest(
  request: ProviderRequest,
  fields: ApnsFields,
  deviceToken: string | undefined,
  { accounts, providerTokens, nowMs }: Judge,
): ApnsReason | undefined {
  const lineFault = checkRequestLine(request, fields);
  if (lineFault !== undefined) return lineFault;
  const { connection } = request;
  const providerToken = bearerTokenOf(fields.authorization, connection);
  const check = providerTokens.check(providerToken, connection, nowMs);
  if (check.kind === 'refused') return check.reason;
  // Apple allows all streams after a valid token, even if it refuses the push
  // (internals/providers.md, "APNs: connections").
  connection.isTrusted = true;
  const { teamId } = check;
  const ownsBundle = (bundleId: string) => accounts.hasBundle(teamId, bundleId);
  const fault = checkPush(request, fields, deviceToken, ownsBundle);
  if (fault === undefined) connection.teamId ??= teamId;
  return fault;
}

/** The answer of APNs to a fate. */
function outcomeOf(
  fate: Fate,
  nowMs: number,
): Refusal | 'accepted' | 'lost-answer' | 'silence' | 'bad-gateway' {
  switch (fate.kind) {
    case 'accepted':
    case 'lost-answer':
    case 'silence':
    case 'bad-gateway':
      return fate.kind;
    case 'scripted':
      return scripted(fate.script);
    case 'gone':
      return { ...refusal('Unregistered'), timestampMs: nowMs };
    case 'bad-token':
      return refusal('BadDeviceToken');
    case 'not-found':
      return refusal('BadPath');
    case 'bad-credential':
      return refusal('InvalidProviderToken');
    case 'throttled':
      return refusal('TooManyRequests');
    case 'server-error':
      return refusal(fate.variant < 0.5 ? 'InternalServerError' : 'ServiceUnavailable');
  }
}

function refusal(reason: ApnsReason): Refusal {
  return { status: APNS_REASONS[reason], reason };
}

function scripted(script: ScriptedAnswer): Refusal | 'accepted' {
  if (script.status === 200) return 'accepted';
  return {
    status: script.status,
    reason: script.reason ?? `Scripted${script.status}`,
    ...(script.timestamp === undefined ? {} : { timestampMs: script.timestamp }),
    ...(script.retryAfterSeconds === undefined
      ? {}
      : { retryAfterSeconds: script.retryAfterSeconds }),
  };
}

function accepted(fields: ApnsFields, token: string): ProviderAnswer {
  return { status: 200, fields: [apnsIdField(fields)], body: '', acceptedToken: token };
}

function answer(sent: ApnsFields, refused: Refusal): ProviderAnswer {
  const { status, reason, timestampMs, retryAfterSeconds } = refused;
  return {
    status,
    fields: [
      apnsIdField(sent),
      JSON_TYPE,
      ...(retryAfterSeconds === undefined
        ? []
        : [recurringField('retry-after', String(retryAfterSeconds))]),
    ],
    body: JSON.stringify({ reason, timestamp: timestampMs }),
  };
}

function apnsIdField({ id }: ApnsFields): Field {
  return singularField('apns-id', id ?? randomUUID());
}
