/** All routes of the engine's HTTP service, in the order in which the OpenAPI document has them. */

import { adminRoutes } from '../../api/admin-routes.ts';
import { consoleRoutes } from '../../api/console-routes.ts';
import { aboutRoute } from '../../api/open/about.ts';
import { apiViewerRoutes } from '../../api/open/api-viewer.ts';
import { builtFiles, CONSOLE_FOLDER, GUIDES_FOLDER } from '../../api/open/built-files.ts';
import { consolePageRoutes } from '../../api/open/console-page.ts';
import { guidePageRoutes } from '../../api/open/guide-pages.ts';
import { healthRoutes } from '../../api/open/health.ts';
import type { Readiness } from '../../api/open/readiness.ts';
import type { SystemParts } from '../../api/open/system.ts';
import { systemRoutes } from '../../api/open/system.ts';
import { withDocument } from '../../api/openapi/routes.ts';
import { operatorRoutes } from '../../api/operator-routes.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { createEraser } from '../../devices/erase-device.ts';
import type { Route } from '../../http/handler.ts';
import type { ProviderOrigins } from '../../providers/origins.ts';
import { jobCanceller } from '../../push/cancel-jobs.ts';
import { listExpectedSends } from '../../push/sql/list-expected.ts';
import { personalJobs } from '../../push/sql/personal-jobs.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Housekeeping } from '../upkeep/housekeeping.ts';
import { fullVersion } from '../version.ts';
import type { Access } from './access.ts';
import type { Devices } from './devices.ts';
import type { EngineParts } from './parts.ts';
import type { Sending } from './sending.ts';

interface RouteSources {
  readonly catalogue: Catalogue;
  readonly devices: Pick<Devices, 'routes' | 'importer' | 'attributes'>;
  readonly sending: Pick<Sending, 'routes' | 'check' | 'journal' | 'evaluator'>;
  readonly access: Access;
  readonly housekeeping: Housekeeping;
  readonly feed: IndexFeed;
  readonly origins: ProviderOrigins;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly readSystem: SystemParts['readSystem'];
}

interface EngineRoutes {
  readonly routes: readonly Route[];
  /** The operator's, which the engine's socket has too. */
  readonly operators: readonly Route[];
}

export function listRoutes(
  { config, store, secrets, log }: EngineParts,
  { devices, sending, access, housekeeping, feed, ...sources }: RouteSources,
): EngineRoutes {
  const { sql, patientReads } = store;
  const { check, journal, evaluator } = sending;
  const { catalogue, origins, readiness, metrics, readSystem } = sources;
  const cancelJobs = jobCanceller({ sql, journal });
  const operators = [
    ...systemRoutes({ readSystem }),
    ...operatorRoutes({
      sql,
      secrets,
      origins,
      check,
      log,
      cancelJobs,
      catalogue,
      importer: devices.importer,
      attributes: devices.attributes,
    }),
  ];
  const routes = withDocument([
    ...devices.routes,
    ...sending.routes,
    ...adminRoutes({
      sql,
      secrets,
      origins,
      check,
      evaluator,
      cancelJobs,
      patientReads,
      attributes: devices.attributes,
      listExpectedSends,
      personalJobs,
      eraseDevice: createEraser(sql, feed),
      onDisconnected: (tagId) => housekeeping.unwantedTags.expectDisconnected(tagId),
      takeOff: (tagIds) => housekeeping.unwantedTags.takeOff(tagIds),
      replaceableDefault: config.REPLACEABLE_DEFAULT,
      arePrivateWebhooksAllowed: config.WEBHOOK_PRIVATE_ADDRESSES,
    }),
    ...consoleRoutes({ ...access, mode: config.SIGN_UP, cancelJobs, patientReads, readSystem }),
    ...(config.OPERATOR_TOKEN === undefined ? [] : operators),
    aboutRoute,
    ...consolePageRoutes(builtFiles(CONSOLE_FOLDER)),
    ...guidePageRoutes(builtFiles(GUIDES_FOLDER)),
    ...healthRoutes({
      readiness,
      metrics,
      metricsToken: config.METRICS_TOKEN ?? null,
      operatorToken: config.OPERATOR_TOKEN ?? null,
      version: fullVersion(),
      failures: access.failures,
    }),
    ...apiViewerRoutes(),
  ]);
  return { routes, operators };
}
