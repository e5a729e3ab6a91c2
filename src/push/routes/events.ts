/** `GET …/notifications/<id>/events`: what becomes of a push job, as server-sent events. */

import type { SqlPool } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { publisherOf } from '../../domain/caller.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { problem } from '../../http/problem.ts';
import { shownUserName } from '../../http/user-name.ts';
import { readNotification } from '../sql/notifications/read-notification.ts';
import { jobIdOf, unknownJob } from './job.ts';
import type { JobWatches } from './watches.ts';

/** Somebody closes a window, or a job ends. */
const RETRY_AFTER = { 'Retry-After': '5' };

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // nginx would keep events until its buffer is full.
  'X-Accel-Buffering': 'no',
};

export async function jobEvents(
  watches: JobWatches,
  sql: SqlPool,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const { clientId } = caller;
  const id = jobIdOf(request);
  if (id === null) return unknownJob(request);
  switch (watches.roomFor(clientId)) {
    case 'client-full':
      return refuse(request, 429, 'This client listens to as many push jobs as it may.');
    case 'full':
      return refuse(request, 503, 'Too many callers listen to push jobs.');
    case 'room':
  }
  const job = await readNotification(sql, clientId, id, publisherOf(caller));
  if (job === null) return unknownJob(request);
  const userName = shownUserName(caller, job.userName);
  const stream = watches.eventsOf(clientId, id, userName);
  return { status: 200, headers: HEADERS, body: '', stream };
}

const refuse = (request: HttpRequest, status: number, detail: string): HttpResponse =>
  problem(request.requestId, status, detail, { headers: RETRY_AFTER });
