/** The 429 of a caller that asks more often than its client may. It names the limit. */

import type { Caller } from '../domain/caller.ts';
import type { OverLimit, RateKind } from '../domain/client-limits.ts';
import { overLimitSentence } from '../domain/client-limits.ts';
import type { HttpResponse } from '../http/handler.ts';
import { problem } from '../http/problem.ts';
import type { CallerRates } from './caller-rates.ts';
import type { SessionRoute } from './session-gate.ts';

/** A bucket that is empty has its next token sooner. */
const RETRY_AFTER_SECONDS = '1';

/** Counts a request of a caller. Returns its refusal when the caller asks too often, else null. */
export function refuseTooOften(
  rates: CallerRates,
  route: SessionRoute,
  caller: Caller,
  requestId: string,
): HttpResponse | null {
  const nowMs = performance.now();
  for (const kind of ratesOf(route)) {
    const over = rates.take(kind, caller, nowMs);
    if (over !== null) return tooOften(requestId, over);
  }
  return null;
}

function ratesOf(route: SessionRoute): readonly RateKind[] {
  if (route.api === 'console') return REQUEST;
  if (route.api === 'app') return route.rate === undefined ? READ : REGISTRATION;
  return route.rate === undefined ? REQUEST : PUSH;
}

const READ = ['reads'] as const;
const REGISTRATION = ['registrations'] as const;
const REQUEST = ['requests'] as const;
const PUSH = ['requests', 'pushes'] as const;

const tooOften = (requestId: string, over: OverLimit): HttpResponse => ({
  ...problem(requestId, 429, overLimitSentence(over), {
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  }),
  beyondLimit: over.name,
});
