/**
 * The simulated push service of a browser's maker (RFC 8030): receives a message, answers as
 * Apple's would, and records it.
 */

import { randomUUID } from 'node:crypto';
import type { Field } from '../../../http2/src/hpack/field.ts';
import type { Fate, PushBook } from '../faults/fate.ts';
import { decideFate } from '../faults/fate.ts';
import type { ScriptedAnswer } from '../faults/scripts.ts';
import type { Handler, ProviderAnswer, ProviderRequest } from '../server/exchange.ts';
import { recurringField, singularField } from '../server/fields.ts';
import type { PushSubscriptions } from './push-subscriptions.ts';
import type { WebPushReason } from './web-push-request.ts';
import {
  checkMessage,
  isCachePolicyRight,
  subscriptionOf,
  VapidTokens,
  WEB_PUSH_REASONS,
} from './web-push-request.ts';

/** Why a push was refused. */
interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly retryAfterSeconds?: number;
}

const JSON_TYPE = recurringField('content-type', 'application/json');

/** Makes the provider; the clock is a parameter so that tokens can grow old in a test. */
export function createWebPush(
  book: PushBook,
  subscriptions: PushSubscriptions,
  now: () => number = Date.now,
): Handler {
  const vapidTokens = new VapidTokens();
  return (request) => {
    const id = subscriptionOf(request.path);
    const { isMicrosoft } = book.live.current;
    const refuse = isMicrosoft ? refuseAsMicrosoft : refuseAsApple;
    const isWrong = isMicrosoft && !isCachePolicyRight(request);
    const fault =
      checkRequest(request, id, subscriptions, vapidTokens, now()) ??
      (isWrong ? 'BadCachePolicy' : undefined);
    if (fault !== undefined || id === undefined) {
      const reason = fault ?? 'BadPath';
      book.record.reject(reason, id, request);
      return refuse(refusal(reason));
    }
    // For a browser of ours, the record shows the decrypted content.
    const content = subscriptions.read(id, request.body);
    if (content === undefined) {
      book.record.reject('BadRecord', id, request);
      return refuse(refusal('BadRecord'));
    }
    const readable = content === null ? request : { ...request, body: content };
    return conclude(book, id, readable, refusalOf(decideFate(book, id), book), refuse);
  };
}

function conclude(
  { record }: PushBook,
  id: string,
  request: ProviderRequest,
  outcome: Refusal | 'silence' | 'lost-answer' | undefined,
  refuse: (refusal: Refusal) => ProviderAnswer,
): ProviderAnswer | 'silence' {
  if (outcome === 'silence') {
    record.reject('Unanswered', id, request);
    return 'silence';
  }
  if (outcome === 'lost-answer') {
    record.accept(id, request);
    record.loseAnswer(id);
    return 'silence';
  }
  if (outcome === undefined) {
    record.accept(id, request);
    return accepted(request, id);
  }
  record.reject(outcome.reason, id, request);
  return refuse(outcome);
}

function checkRequest(
  request: ProviderRequest,
  id: string | undefined,
  subscriptions: PushSubscriptions,
  vapidTokens: VapidTokens,
  nowMs: number,
): WebPushReason | undefined {
  if (id === undefined) return 'BadPath';
  const fault = checkMessage(request);
  if (fault !== undefined) return fault;
  const check = vapidTokens.check(request, nowMs);
  if (check.kind === 'refused') return check.reason;
  request.connection.isTrusted = true;
  return subscriptions.takesKey(id, check.publicKey) ? undefined : 'VapidPkHashMismatch';
}

/** The answer of a push service to a fate; undefined: it accepts the push. */
function refusalOf(
  fate: Fate,
  { live }: PushBook,
): Refusal | 'silence' | 'lost-answer' | undefined {
  switch (fate.kind) {
    case 'accepted':
      return undefined;
    case 'scripted':
      return scripted(fate.script);
    case 'gone':
      return refusal('Unregistered');
    case 'bad-token':
      return refusal('VapidPkHashMismatch');
    case 'not-found':
      return refusal('BadPath');
    case 'bad-credential':
      return refusal('BadJwtToken');
    case 'throttled':
      return {
        ...refusal('TooManyRequests'),
        retryAfterSeconds: live.current.retryAfterSeconds,
      };
    case 'server-error':
      return refusal(fate.variant < 0.5 ? 'InternalServerError' : 'ServiceUnavailable');
    case 'bad-gateway':
      return refusal('BadGateway');
    case 'silence':
    case 'lost-answer':
      return fate.kind;
  }
}

const refusal = (reason: WebPushReason): Refusal => ({ status: WEB_PUSH_REASONS[reason], reason });

function scripted({ status, reason, retryAfterSeconds }: ScriptedAnswer): Refusal | undefined {
  if (status < 300) return undefined;
  return {
    status,
    reason: reason ?? `Scripted${status}`,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}

/** RFC 8030, 5: the location of the message. */
function accepted({ authority }: ProviderRequest, id: string): ProviderAnswer {
  const location = `https://${authority}/message/${randomUUID()}`;
  return {
    status: 201,
    fields: [singularField('location', location)],
    body: '',
    acceptedToken: id,
  };
}

function refuseAsApple({ status, reason, retryAfterSeconds }: Refusal): ProviderAnswer {
  const fields = [JSON_TYPE, ...retryAfter(retryAfterSeconds)];
  return { status, fields, body: JSON.stringify({ reason }) };
}

/** Without a body. */
function refuseAsMicrosoft({ status, reason, retryAfterSeconds }: Refusal): ProviderAnswer {
  const description =
    reason === 'BadCachePolicy' ? 'Ttl value conflicts with X-WNS-Cache-Policy.' : reason;
  return {
    status,
    fields: [
      recurringField('x-wns-error-description', description),
      recurringField('x-wns-status', 'dropped'),
      ...retryAfter(retryAfterSeconds),
    ],
    body: '',
  };
}

const retryAfter = (seconds: number | undefined): readonly Field[] =>
  seconds === undefined ? [] : [recurringField('retry-after', String(seconds))];
