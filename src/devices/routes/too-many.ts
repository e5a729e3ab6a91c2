/** The 429 for an address that registers too often, checked before the body is parsed. */

import { networkOf } from '../../../packages/std/src/ip-address.ts';
import type { Caller } from '../../domain/caller.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { problem } from '../../http/problem.ts';
import type { AppApi } from './app-api.ts';

/** A bucket is full again within a second. */
const RETRY_AFTER_SECONDS = '1';
const TOO_MANY =
  'Too many registrations for one app from this address: more than REGISTRATIONS_PER_SECOND_MAX.';

/** Takes a registration from the bucket of address and app. The refusal; null: it may go on. */
export function refuseTooMany(
  { rates }: AppApi,
  request: HttpRequest,
  { appId }: Caller,
): HttpResponse | null {
  if (rates.take(`${appId} ${networkOf(request.address)}`, performance.now())) return null;
  const refusal = problem(request.requestId, 429, TOO_MANY, {
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  });
  return { ...refusal, beyondLimit: 'REGISTRATIONS_PER_SECOND_MAX' };
}
