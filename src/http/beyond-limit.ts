/** The 403 of a client that has as much as it may. */

import type { OverLimit } from '../domain/client-limits.ts';
import type { HttpResponse } from './handler.ts';
import { answerRefusal, refuse } from './result.ts';

/** Names the limit, and is counted by it. */
export const tooMuch = (requestId: string, over: OverLimit): HttpResponse =>
  answerRefusal({ requestId }, refuse.overLimit(over));
