/** The 503 of counts and long lists, while too much of that is being done. */

import type { HttpRequest, HttpResponse } from './handler.ts';
import { answerRefusal, refuse } from './result.ts';

export const tooMuchCounted = (request: HttpRequest): HttpResponse =>
  answerRefusal(request, refuse.tooMuchCounted);
