/** The headers that the service reads from a request. Only the form of the others is checked. */

import { RequestHeaders } from '../../packages/http1/src/request-head.ts';

export const READ_HEADERS = [
  'accept',
  'accept-encoding',
  'access-control-request-headers',
  'authorization',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'host',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'origin',
  'sec-fetch-mode',
  'sec-fetch-site',
  'tagcast-client',
  'x-csrf-token',
  'x-forwarded-for',
  'x-forwarded-proto',
  'traceparent',
  'x-request-id',
] as const;

/** The headers of input that is not a request. */
export const NO_HEADERS = new RequestHeaders(
  READ_HEADERS,
  READ_HEADERS.map(() => null),
);
