/** The 429 for an address that registers too often, checked before the body is parsed. */

import { networkOf } from '../../../packages/std/src/ip-address.ts';
import type { Caller } from '../../domain/caller.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import type { Refusal } from '../../http/result.ts';
import { answerRefusal, refused } from '../../http/result.ts';
import type { AppApi } from './app-api.ts';

/** A bucket is full again within a second. */
const RETRY_AFTER_SECONDS = '1';
const TOO_MANY =
  'Too many registrations for one app from this address: more than REGISTRATIONS_PER_SECOND_MAX.';

const REFUSAL = refused(429, TOO_MANY, {
  headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  beyondLimit: 'REGISTRATIONS_PER_SECOND_MAX',
});

/** Takes a registration from the bucket of address and app. The refusal; null: it may go on. */
export const tooMany = (
  { rates }: Pick<AppApi, 'rates'>,
  request: HttpRequest,
  { appId }: Caller,
): Refusal | null =>
  rates.take(`${appId} ${networkOf(request.address)}`, performance.now()) ? null : REFUSAL;

/** The same as an answer. */
export function refuseTooMany(
  api: Pick<AppApi, 'rates'>,
  request: HttpRequest,
  caller: Caller,
): HttpResponse | null {
  const refusal = tooMany(api, request, caller);
  return refusal === null ? null : answerRefusal(request, refusal);
}
