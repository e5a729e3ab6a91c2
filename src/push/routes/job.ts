/** What every route about one push job begins with: its id, who may see it, and who may not. */

import { isLimited } from '../../catalogue/key-limits.ts';
import type { Caller } from '../../domain/caller.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { problem } from '../../http/problem.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Where the jobs of a client are; `:client` for a route. */
export const jobsPathOf = (client: string): string => `/push-api/v3/${client}/notifications`;

/** The id as the database has it; null: this names no job. */
export function readJobId(text: string): string | null {
  const id = text.toLowerCase();
  return UUID.test(id) ? id : null;
}

/** The id in the path. */
export const jobIdOf = (request: HttpRequest): string | null =>
  readJobId(request.params['id'] ?? '');

/** Whose jobs the caller sees and controls; null: all of his client. */
export const publisherOf = (caller: Caller): string | null =>
  isLimited(caller) ? caller.userName : null;

/** 404: also for a job of another client, or of another publisher than a limited key. */
export const unknownJob = (request: HttpRequest): HttpResponse =>
  problem(request.requestId, 404, 'There is no such push job.');
