/** What every route about one push job begins with: its id, and the answer when there is none. */

import { readJobId } from '../../domain/job-id.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { problem } from '../../http/problem.ts';

/** Where the jobs of a client are; `:client` for a route. */
export const jobsPathOf = (client: string): string => `/push-api/v3/${client}/notifications`;

/** The id in the path. */
export const jobIdOf = (request: HttpRequest): string | null =>
  readJobId(request.params['id'] ?? '');

/** 404: also for a job of another client, or of another publisher than a limited key. */
export const unknownJob = (request: HttpRequest): HttpResponse =>
  problem(request.requestId, 404, 'There is no such push job.');
