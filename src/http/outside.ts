/** The 403 of a limited key. */

import type { HttpRequest, HttpResponse } from './handler.ts';
import { problem } from './problem.ts';

/** The request concerns something that its key is not for; `path`: the entry of it that does. */
export const outside = (request: HttpRequest, path = ''): HttpResponse =>
  problem(
    request.requestId,
    403,
    `${path === '' ? 'This' : path} is outside of what this key is for.`,
  );
