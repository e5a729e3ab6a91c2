/** The 503 of a push whose templates cannot be evaluated now. */

import type { HttpRequest, HttpResponse } from './handler.ts';
import { problem } from './problem.ts';

/** By then those that wait now have been evaluated, or have given up. */
const RETRY_AFTER_SECONDS = '5';

export const tooManyTemplates = ({ requestId }: HttpRequest): HttpResponse =>
  problem(
    requestId,
    503,
    'Templates cannot be evaluated in time: too many are being evaluated, for this client or in all, or the machine is busy. Try again.',
    { headers: { 'Retry-After': RETRY_AFTER_SECONDS } },
  );
