/** What the operator's routes are given, on a store. */

import type { operatorRoutes } from '../../src/api/operator-routes.ts';
import type { Store } from '../../src/database/store.ts';
import { jobCanceller } from '../../src/push/cancel-jobs.ts';
import { JobJournal } from '../../src/telemetry/job-journal.ts';
import { secrets } from './api.ts';
import { silent } from './app-api.ts';

export const makeOperatorParts = (
  { sql }: Store,
  log = silent,
): Parameters<typeof operatorRoutes>[0] => ({
  sql,
  secrets,
  log,
  cancelJobs: jobCanceller({ sql, journal: new JobJournal(log) }),
});
