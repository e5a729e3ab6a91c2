/** `GET /push-admin-api/history/get/<client>`: submissions, as the public service lists them. */

import { z } from 'zod';
import type { PatientReads } from '../../database/patient-reads.ts';
import type { Caller } from '../../domain/caller.ts';
import { publisherOf } from '../../domain/caller.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { json } from '../../http/json-body.ts';
import { epochMs, jsonAnswer, state } from '../../http/openapi/parts.ts';
import { QueryReader } from '../../http/query-reader.ts';
import { answerRefusal, refuse } from '../../http/result.ts';
import { shownUserName } from '../../http/user-name.ts';
import { listHistory } from '../sql/notifications/list-history.ts';
import { jobId } from './job.ts';
import { JOB_ID } from './push-schemas.ts';

/**
 * internals/interface.md, "Admin API".
 * @limit jobs on a page of `history/get` that names no number
 */
const COUNT_DEFAULT = 20;
/** @publisherLimit jobs on a page of `history/get` → `400` */
const COUNT_MAX = 1_000;
/**
 * A page is found by passing over all before it.
 * @limit pages of `history/get` → `400`
 */
const PAGE_MAX = 10_000;

export const historyRoute = (reads: PatientReads): ApiRoute => ({
  operation: 'getHistory',
  document: {
    summary: 'List submitted pushes, newest first',
    description: 'To read on and on, take `listNotifications`.',
    query: {
      page: {
        description: 'From 1 on.',
        schema: z.int().min(1).max(PAGE_MAX),
        example: 1,
      },
      count: {
        description: 'Rows of a page; 20 if it is not given.',
        schema: z.int().min(1).max(COUNT_MAX),
        example: 20,
      },
    },
    answers: {
      200: jsonAnswer(
        'A page.',
        z.array(z.object({ id: jobId, userName: z.string(), status: state, time: epochMs })),
        [
          {
            id: JOB_ID,
            userName: 'demo-super',
            status: 'FINISHED',
            time: 1_795_392_000_000,
          },
        ],
      ),
    },
    problems: [400],
  },
  api: 'admin',
  needs: 'read',
  method: 'GET',
  path: '/push-admin-api/history/get/:client',
  bodyBytesMax: 0,
  handle: (request, caller) => history(reads, request, caller),
});

async function history(
  reads: PatientReads,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const query = new QueryReader(request.query, ['page', 'count'], 'ignored');
  const page = query.number('page', 1, PAGE_MAX) ?? 1;
  const limit = query.number('count', 1, COUNT_MAX) ?? COUNT_DEFAULT;
  if (query.faults.length > 0) return answerRefusal(request, refuse.invalid(query.faults));
  const offset = (page - 1) * limit;
  const read = await reads.run(caller.clientId, (sql) =>
    listHistory(sql, caller.clientId, publisherOf(caller), { offset, limit }),
  );
  if (read.kind === 'busy') return answerRefusal(request, refuse.tooMuchCounted);
  return json(
    read.result.map((entry) => ({ ...entry, userName: shownUserName(caller, entry.userName) })),
  );
}
