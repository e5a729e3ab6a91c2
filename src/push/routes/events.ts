/** `GET …/notifications/<id>/events`: what becomes of a push job, as server-sent events. */

import { z } from 'zod';
import type { SqlPool } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { publisherOf } from '../../domain/caller.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { problem } from '../../http/problem.ts';
import { answerRefusal } from '../../http/result.ts';
import { shownUserName } from '../../http/user-name.ts';
import { readNotification } from '../sql/notifications/read-notification.ts';
import { JOBS_PATH, jobPath, NO_JOB } from './job.ts';
import type { JobWatches } from './watches.ts';

/** Somebody closes a window, or a job ends. */
const RETRY_AFTER = { 'Retry-After': '5' };

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // nginx would keep events until its buffer is full.
  'X-Accel-Buffering': 'no',
};

export const eventsRoute = (watches: JobWatches, sql: SqlPool): ApiRoute => ({
  operation: 'listenToNotification',
  document: {
    summary: 'Follow a push job while it runs',
    description: `Server-sent events.

- \`progress\` holds the whole job, as \`getNotification\` answers it, so one that was missed costs nothing: the first at once, then at most one a second, when something has changed. \`Last-Event-ID\` is ignored.
- \`end\` (\`{"state":"FINISHED"}\`) follows the last one, when all devices are counted; then the stream ends. A job that has ended already has one \`progress\` and \`end\`.
- A stream that ends without \`end\` was broken off: after an hour; because the node stops, the job was deleted, the credential was revoked (within a second), or the caller did not read; or for a client with fewer streams. Come again after \`retry\` (3 s).
- A comment every 15 seconds keeps proxies from closing the connection.
- Up to 64 listeners of a client on a node, beyond that \`429\`. 256 of all clients, beyond that the oldest stream of the client with most ends for a client with fewer, else \`503\`. Both have \`Retry-After\`.
- \`EventSource\` of browsers cannot send a credential: read the body of a \`fetch\`, or take the client package, whose \`events\` does.`,
    path: jobPath,
    answers: {
      200: {
        description: 'Until the job has ended.',
        content: {
          'text/event-stream': {
            schema: z.string(),
            example: 'retry: 3000\n\nevent: end\ndata: {"state":"FINISHED"}\n\n',
          },
        },
      },
    },
    problems: [404],
  },
  api: 'notification',
  needs: 'read',
  method: 'GET',
  path: `${JOBS_PATH}/:id/events`,
  bodyBytesMax: 0,
  handle: (request, caller) => jobEvents(watches, sql, request, caller),
});

async function jobEvents(
  watches: JobWatches,
  sql: SqlPool,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const { clientId } = caller;
  const id = jobPath.id.read(request.params['id'] ?? '');
  if (id === null) return answerRefusal(request, NO_JOB);
  switch (watches.roomFor(clientId)) {
    case 'client-full':
      return refuse(request, 429, 'This client listens to as many push jobs as it may.');
    case 'full':
      return refuse(request, 503, 'Too many callers listen to push jobs.');
    case 'room':
  }
  const job = await readNotification(sql, clientId, id, publisherOf(caller));
  if (job === null) return answerRefusal(request, NO_JOB);
  const userName = shownUserName(caller, job.userName);
  const stream = watches.eventsOf(clientId, id, userName);
  return { status: 200, headers: HEADERS, body: '', stream };
}

const refuse = (request: HttpRequest, status: number, detail: string): HttpResponse =>
  problem(request.requestId, status, detail, { headers: RETRY_AFTER });
