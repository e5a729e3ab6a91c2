/** The push jobs of a client as resources: `/push-api/v3/<client-id>/notifications`. */

import type { SqlPool } from '../../database/sql.ts';
import type { Route } from '../../http/handler.ts';
import type { TestSends } from '../../providers/test-sends.ts';
import type { JobJournal } from '../../telemetry/job-journal.ts';
import type { Evaluator } from '../../templates/evaluator.ts';
import type { Accept } from '../accept/accept.ts';
import { changeRoute } from './change.ts';
import { controlRoutes } from './control.ts';
import { correctRoute } from './correct.ts';
import { draftRoutes } from './drafts.ts';
import { eventsRoute } from './events.ts';
import { explainRoute } from './explain.ts';
import type { JobReads } from './get.ts';
import { getRoute } from './get.ts';
import { listRoute } from './list.ts';
import { policyRoutes } from './policies.ts';
import { estimateRoute, previewRoute } from './preview.ts';
import { createRoute } from './push.ts';
import { replaceRoute } from './replace.ts';
import { retractRoute } from './retract.ts';
import { retryRoute } from './retry.ts';
import { segmentRoutes } from './segments.ts';
import { testDeviceRoutes } from './test-devices.ts';
import { testRoute } from './test-send.ts';
import type { JobWatches } from './watches.ts';

export interface NotificationRouteParts extends JobReads {
  readonly accept: Accept;
  readonly sql: SqlPool;
  readonly journal: Pick<JobJournal, 'ended'>;
  readonly testSends: TestSends;
  readonly evaluator: Evaluator;
  readonly watches: JobWatches;
}

export const notificationRoutes = (parts: NotificationRouteParts): readonly Route[] => [
  listRoute(parts.patientReads),
  createRoute(parts.accept, parts.sql),
  // Before those with an id: these names are none.
  previewRoute(parts),
  estimateRoute(parts),
  testRoute(parts),
  getRoute(parts),
  eventsRoute(parts.watches, parts.sql),
  changeRoute(parts.sql),
  ...controlRoutes(parts),
  replaceRoute(parts.accept, parts.sql),
  retryRoute(parts),
  correctRoute(parts),
  retractRoute(parts),
  ...draftRoutes(parts.sql),
  ...segmentRoutes(parts),
  ...policyRoutes(parts.sql),
  explainRoute(parts),
  ...testDeviceRoutes(parts.sql),
];
