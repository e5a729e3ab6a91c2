/** The simulated Apple Push Notification service: takes a request, answers as Apple would, and records it. */

import { randomUUID } from 'node:crypto';
import type { AccountBook } from './account-book.ts';
import type { ApnsReason } from './apns-reasons.ts';
import { APNS_REASONS } from './apns-reasons.ts';
import { apnsIdOf, checkPush, checkRequestLine, deviceTokenOf } from './apns-request.ts';
import { ProviderTokens } from './apns-token.ts';
import type { Handler, ProviderAnswer, ProviderRequest } from './exchange.ts';
import { header } from './exchange.ts';
import type { Fate, PushBook } from './fate.ts';
import { decideFate } from './fate.ts';
import type { ScriptedAnswer } from './scripts.ts';

/** Why a push was not taken, and since when the token is dead, where that is why. */
interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly timestampMs?: number;
  readonly retryAfterSeconds?: number;
}

/** Makes the provider; the clock is a parameter so that tokens can grow old in a test. */
export function createApns(
  book: PushBook,
  accounts: AccountBook,
  now: () => number = Date.now,
): Handler {
  const providerTokens = new ProviderTokens(accounts);
  return (request) => {
    const token = deviceTokenOf(request);
    const fault = checkRequest(request, accounts, providerTokens, now());
    if (fault !== undefined || token === undefined) {
      const reason = fault ?? 'BadDeviceToken';
      book.record.reject(reason, token, request);
      return answer(request, { status: APNS_REASONS[reason], reason });
    }
    const refusal = refusalOf(decideFate(book, token), now());
    if (refusal === 'silence') {
      book.record.reject('Unanswered', token, request);
      return 'silence';
    }
    if (refusal === undefined) book.record.accept(token, request);
    else book.record.reject(refusal.reason, token, request);
    return answer(request, refusal);
  };
}

/** The first fault of a request; a valid one binds its connection to the team that sent it. */
function checkRequest(
  request: ProviderRequest,
  accounts: AccountBook,
  providerTokens: ProviderTokens,
  nowMs: number,
): ApnsReason | undefined {
  const lineFault = checkRequestLine(request);
  if (lineFault !== undefined) return lineFault;
  const authorization = header(request, 'authorization') ?? '';
  const check = providerTokens.check(authorization, request.connection, nowMs);
  if (check.kind === 'refused') return check.reason;
  const { teamId } = check;
  const fault = checkPush(request, (bundleId) => accounts.hasBundle(teamId, bundleId));
  if (fault === undefined) request.connection.teamId ??= teamId;
  return fault;
}

/** What APNs says to a fate; undefined: it takes the push. */
function refusalOf(fate: Fate, nowMs: number): Refusal | 'silence' | undefined {
  switch (fate.kind) {
    case 'accepted':
      return undefined;
    case 'scripted':
      return scripted(fate.script);
    case 'gone':
      return { ...refusal('Unregistered'), timestampMs: nowMs };
    case 'bad-token':
      return refusal('BadDeviceToken');
    case 'not-found':
      return refusal('BadPath');
    case 'throttled':
      return refusal('TooManyRequests');
    case 'server-error':
      return refusal(fate.variant < 0.5 ? 'InternalServerError' : 'ServiceUnavailable');
    case 'silence':
      return 'silence';
  }
}

function refusal(reason: ApnsReason): Refusal {
  return { status: APNS_REASONS[reason], reason };
}

function scripted(script: ScriptedAnswer): Refusal | undefined {
  if (script.status === 200) return undefined;
  return {
    status: script.status,
    reason: script.reason ?? `Scripted${script.status}`,
    ...(script.timestamp === undefined ? {} : { timestampMs: script.timestamp }),
    ...(script.retryAfterSeconds === undefined
      ? {}
      : { retryAfterSeconds: script.retryAfterSeconds }),
  };
}

function answer(request: ProviderRequest, refused: Refusal | undefined): ProviderAnswer {
  const headers: Record<string, string> = { 'apns-id': apnsIdOf(request) ?? randomUUID() };
  if (refused === undefined) return { status: 200, headers, body: '' };
  headers['content-type'] = 'application/json';
  if (refused.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(refused.retryAfterSeconds);
  }
  const { reason, timestampMs } = refused;
  return {
    status: refused.status,
    headers,
    body: JSON.stringify({ reason, timestamp: timestampMs }),
  };
}
