/** `GET …/notifications`: the push jobs of a client, newest first, a page at a time. */

import type { PatientReads } from '../../database/patient-reads.ts';
import type { Caller } from '../../domain/caller.ts';
import { publisherOf } from '../../domain/caller.ts';
import { NOTIFICATION_STATES } from '../../domain/notification.ts';
import { ID_MAX } from '../../domain/tag.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { invalid, json } from '../../http/json-body.ts';
import { answerList } from '../../http/list-answer.ts';
import { QueryReader } from '../../http/query-reader.ts';
import { tooMuchCounted } from '../../http/too-much-counted.ts';
import { shownUserName } from '../../http/user-name.ts';
import type {
  ListedNotification,
  NotificationFilter,
  NotificationTimes,
} from '../sql/notifications/list-notifications.ts';
import { listNotifications } from '../sql/notifications/list-notifications.ts';
import { countsObject } from './counts.ts';

/**
 * internals/interface.md, "Admin API".
 * @limit jobs on a page of `notifications` that names no limit
 */
const PAGE_DEFAULT = 100;
const FILTERS = ['state', 'appId', 'tagId', 'publisher', 'from', 'to'] as const;
const PARAMETERS = ['limit', 'cursor', ...FILTERS] as const;

export async function listJobs(
  reads: PatientReads,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const query = new QueryReader(request.query, PARAMETERS);
  const limit = query.limit() ?? PAGE_DEFAULT;
  const before = query.idCursor();
  const publisher = query.text('publisher');
  const filter: NotificationFilter = {
    state: query.choice('state', NOTIFICATION_STATES),
    appId: query.number('appId', 1, ID_MAX),
    tagId: query.number('tagId', 1, ID_MAX),
    fromMs: query.time('from'),
    toMs: query.time('to'),
    publisher: publisherOf(caller) ?? publisher,
  };
  if (query.faults.length > 0) return invalid(request, query.faults);
  if (publisher !== null && !maySeeJobsOf(caller, publisher)) return json([]);
  const read = await reads.run(caller.clientId, (sql) =>
    answerList<ListedNotification, string | null>(
      request,
      { limit, after: before },
      {
        read: (before, limit) => listNotifications(sql, caller.clientId, filter, { before, limit }),
        keyOf: ({ id }) => id,
        show: (row) => rowOf(caller, row),
      },
    ),
  );
  return read.kind === 'busy' ? tooMuchCounted(request) : read.result;
}

/**
 * A limited key sees its own. Who is not told a member's address must not find out by asking for
 * it, either.
 */
const maySeeJobsOf = (caller: Caller, publisher: string): boolean =>
  (publisherOf(caller) ?? publisher) === publisher &&
  shownUserName(caller, publisher) === publisher;

const rowOf = (caller: Caller, { id, state, userName, title, ...row }: ListedNotification) => ({
  id,
  state,
  userName: shownUserName(caller, userName),
  ...(title === null ? {} : { title }),
  ...timesObject(row),
  ...countsObject(row),
});

/** What has not happened, and an end that is not set, is left out. */
export const timesObject = (times: NotificationTimes) => ({
  acceptedAt: times.acceptedAt,
  sendAt: times.sendAt,
  ...(times.expiresAt === null ? {} : { expiresAt: times.expiresAt }),
  ...(times.firstSendAt === null ? {} : { firstSendAt: times.firstSendAt }),
  ...(times.lastSendAt === null ? {} : { lastSendAt: times.lastSendAt }),
  ...(times.finishedAt === null ? {} : { finishedAt: times.finishedAt }),
});
