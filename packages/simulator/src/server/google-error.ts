/** Errors in the form of Google's APIs (internals/providers.md, "FCM: errors"). */

import type { Field } from '../../../http2/src/hpack/field.ts';
import type { ProviderAnswer } from './exchange.ts';
import { recurringField } from './fields.ts';

/** The google.rpc status that goes with each HTTP status. */
const RPC_STATUSES: ReadonlyMap<number, string> = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [429, 'RESOURCE_EXHAUSTED'],
  [500, 'INTERNAL'],
  [503, 'UNAVAILABLE'],
]);

export const JSON_TYPE = recurringField('content-type', 'application/json; charset=UTF-8');
const HTML_TYPE = recurringField('content-type', 'text/html; charset=UTF-8');

type GoogleErrorDetail = { readonly '@type': string } & Readonly<Record<string, unknown>>;

interface GoogleError {
  readonly code: number;
  readonly message: string;
  readonly details: readonly GoogleErrorDetail[];
  /** Besides the content type. */
  readonly fields?: readonly Field[];
}

/** The detail with FCM's own error code; clients decide by it first. */
export function fcmErrorDetail(errorCode: string): GoogleErrorDetail {
  return { '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode };
}

export function badRequestDetail(field: string, description: string): GoogleErrorDetail {
  const fieldViolations = [{ field, description }];
  return { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations };
}

export function errorInfoDetail(reason: string): GoogleErrorDetail {
  return {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason,
    domain: 'googleapis.com',
    metadata: { service: 'fcm.googleapis.com' },
  };
}

export function quotaFailureDetail(subject: string): GoogleErrorDetail {
  const violations = [{ subject, description: 'Message rate exceeded' }];
  return { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations };
}

export function googleErrorAnswer(error: GoogleError): ProviderAnswer {
  const { code, message, details } = error;
  const status = rpcStatusOf(code);
  // Google leaves an empty list out. Only this distinguishes an oversized message.
  const body = { error: { code, message, status, ...(details.length > 0 ? { details } : {}) } };
  return {
    status: code,
    fields: [JSON_TYPE, ...(error.fields ?? [])],
    body: JSON.stringify(body),
  };
}

function rpcStatusOf(code: number): string {
  return RPC_STATUSES.get(code) ?? 'UNKNOWN';
}

/** The page of HTML that Google's front end shows when no API answers. */
export function googleHtmlAnswer(status: number, sentence: string): ProviderAnswer {
  return {
    status,
    fields: [HTML_TYPE],
    body: `<!DOCTYPE html>\n<html lang=en>\n<title>Error ${status}</title>\n<p><b>${status}.</b> ${sentence}\n`,
  };
}
