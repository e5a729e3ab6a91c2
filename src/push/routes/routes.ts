/** The push jobs of a client as resources: `/push-api/v3/<client-id>/notifications`. */

import type { PatientReads } from '../../database/patient-reads.ts';
import type { SqlPool } from '../../database/sql.ts';
import type { ApiRoute, ClientRoute } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import type { TestSends } from '../../providers/test-sends.ts';
import type { JobJournal } from '../../telemetry/job-journal.ts';
import type { Evaluator } from '../../templates/evaluator.ts';
import type { Accept } from '../accept/accept.ts';
import { changeJob } from './change.ts';
import { controlJob, ORDERS } from './control.ts';
import { jobEvents } from './events.ts';
import { getJob } from './get.ts';
import { jobsPathOf } from './job.ts';
import { listJobs } from './list.ts';
import { estimateAudience, previewPush } from './preview.ts';
import { pushJob } from './push.ts';
import { sendTest } from './test-send.ts';
import type { JobWatches } from './watches.ts';

export interface NotificationRouteParts {
  readonly accept: Accept;
  readonly sql: SqlPool;
  readonly journal: Pick<JobJournal, 'ended'>;
  readonly patientReads: PatientReads;
  readonly testSends: TestSends;
  readonly evaluator: Evaluator;
  readonly watches: JobWatches;
}

export function notificationRoutes(parts: NotificationRouteParts): readonly ApiRoute[] {
  const { accept, sql, patientReads, watches } = parts;
  return [
    get('listNotifications', '', (request, caller) => listJobs(patientReads, request, caller)),
    {
      ...post('createNotification', '', (request, caller) => pushJob(accept, sql, request, caller)),
      rate: 'pushes',
    },
    // Before those with an id: these names are none.
    post('previewNotification', '/preview', (request, caller) =>
      previewPush(accept, sql, request, caller),
    ),
    post('estimateAudience', '/estimate', (request, caller) =>
      estimateAudience(accept, sql, request, caller),
    ),
    post('testNotification', '/test', (request, caller) => sendTest(parts, request, caller)),
    get('getNotification', '/:id', (request, caller) => getJob(patientReads, request, caller)),
    get('listenToNotification', '/:id/events', (request, caller) =>
      jobEvents(watches, sql, request, caller),
    ),
    {
      ...post('changeNotification', '/:id', (request, caller) => changeJob(sql, request, caller)),
      method: 'PATCH',
    },
    ...ORDERS.map((order) =>
      post(`${order}Notification`, `/:id/${order}`, (request, caller) =>
        controlJob(parts, order, request, caller),
      ),
    ),
  ];
}

type Handle = ClientRoute['handle'];

const get = (operation: string, path: string, handle: Handle): ApiRoute => ({
  operation,
  api: 'notification',
  needs: 'read',
  method: 'GET',
  path: `${jobsPathOf(':client')}${path}`,
  bodyBytesMax: 0,
  handle,
});

const post = (operation: string, path: string, handle: Handle): ClientRoute => ({
  operation,
  api: 'notification',
  needs: 'send',
  method: 'POST',
  path: `${jobsPathOf(':client')}${path}`,
  bodyBytesMax: BODY_BYTES_MAX,
  handle,
});
