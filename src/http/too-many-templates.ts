/** The 503 of a push whose templates cannot be evaluated now. */

import type { HttpRequest, HttpResponse } from './handler.ts';
import { answerRefusal, refuse } from './result.ts';

export const tooManyTemplates = (request: HttpRequest): HttpResponse =>
  answerRefusal(request, refuse.tooManyTemplates);
