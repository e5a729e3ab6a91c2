/** The routes of the Admin API, beside nothing else of an engine. */

import { adminRoutes } from '../../src/api/admin-routes.ts';
import { GivenAttributes } from '../../src/attributes/given-attributes.ts';
import type { Store } from '../../src/database/store.ts';
import { createEraser } from '../../src/devices/erase-device.ts';
import type { Route } from '../../src/http/handler.ts';
import { createCheck } from '../../src/provider-credentials/provider-check.ts';
import { jobCanceller } from '../../src/push/cancel-jobs.ts';
import { listExpectedSends } from '../../src/push/sql/list-expected.ts';
import { personalJobs } from '../../src/push/sql/personal-jobs.ts';
import { NO_FEED } from '../../src/tag-index/tag-index.ts';
import { secrets } from './api.ts';
import { DEFAULT_ORIGINS } from './default-origins.ts';
import { evaluator } from './evaluator.ts';
import { SILENT_JOURNAL } from './silent-journal.ts';

export const makeAdminRoutes = ({ sql, patientReads }: Store): readonly Route[] =>
  adminRoutes({
    sql,
    secrets,
    cancelJobs: jobCanceller({ sql, journal: SILENT_JOURNAL }),
    listExpectedSends,
    personalJobs,
    patientReads,
    attributes: new GivenAttributes({ sql }),
    origins: DEFAULT_ORIGINS,
    evaluator,
    check: createCheck(sql, secrets, DEFAULT_ORIGINS),
    eraseDevice: createEraser(sql, NO_FEED),
    onDisconnected: () => undefined,
    takeOff: async () => undefined,
    replaceableDefault: true,
    arePrivateWebhooksAllowed: false,
  });
