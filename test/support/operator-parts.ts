/** The dependencies of the operator's routes, on a store. */

import type { Logger } from 'pino';
import type { operatorRoutes } from '../../src/api/operator-routes.ts';
import { GivenAttributes } from '../../src/attributes/given-attributes.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import type { Store } from '../../src/database/store.ts';
import {
  IMPORT_LANES,
  IMPORT_LANES_EMBEDDED,
  Importer,
} from '../../src/devices/import/importer.ts';
import { jobCanceller } from '../../src/push/cancel-jobs.ts';
import { NO_FEED } from '../../src/tag-index/tag-index.ts';
import { JobJournal } from '../../src/telemetry/job-journal.ts';
import { secrets } from './api.ts';
import type { Limits } from './app-api.ts';
import { silent } from './app-api.ts';
import { DEFAULT_ORIGINS } from './default-origins.ts';

export const makeOperatorParts = (
  { sql, address }: Store,
  { log = silent, limits = {} }: { readonly log?: Logger; readonly limits?: Limits } = {},
): Parameters<typeof operatorRoutes>[0] => ({
  sql,
  secrets,
  origins: DEFAULT_ORIGINS,
  check: () => Promise.resolve({ isHealthy: true, note: '' }),
  log,
  cancelJobs: jobCanceller({ sql, journal: new JobJournal(log) }),
  catalogue: new Catalogue(sql),
  attributes: new GivenAttributes({ sql }),
  importer: new Importer({
    sql,
    feed: NO_FEED,
    log: silent,
    onCommitted: () => undefined,
    lanes: address.kind === 'embedded' ? IMPORT_LANES_EMBEDDED : IMPORT_LANES,
    devicesPerAppMax: limits.devicesPerAppMax ?? 1_000_000,
    tagsPerDeviceMax: limits.tagsPerDeviceMax ?? 5_000,
  }),
});
