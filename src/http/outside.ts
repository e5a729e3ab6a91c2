/** The 403 of a limited key. */

import type { HttpRequest, HttpResponse } from './handler.ts';
import { answerRefusal, refuse } from './result.ts';

/** The request concerns something that its key is not for; `path`: the entry of it that does. */
export const outside = (request: HttpRequest, path = ''): HttpResponse =>
  answerRefusal(request, refuse.outside(path));
