/**
 * The OpenAPI document of all routes, as an engine with an operator's token serves it. No engine
 * runs: nothing is asked of the routes, so anything may stand for what they work with.
 */

import type { OpenApiDocument } from '../../src/api/openapi/document.ts';
import { makeDocument } from '../../src/api/openapi/document.ts';
import { schema } from '../../src/app/config.ts';
import { listRoutes } from '../../src/app/engine/routes.ts';
import { appApiRoutes } from '../../src/devices/routes/routes.ts';
import { pushRoute } from '../../src/push/routes/push.ts';
import { notificationRoutes } from '../../src/push/routes/routes.ts';
import { statusRoute } from '../../src/push/routes/status.ts';

/** Each of its members, and whatever it returns, is the same again. */
const anything: never = new Proxy(() => anything, {
  get: () => anything,
  apply: () => anything,
}) as never;

export function documentOfRoutes(): OpenApiDocument {
  const config = schema.parse({ OPERATOR_TOKEN: '-'.repeat(32) });
  const { routes } = listRoutes(
    { config, store: anything, secrets: anything, log: anything, front: anything },
    {
      catalogue: anything,
      devices: { routes: appApiRoutes(anything), importer: anything, attributes: anything },
      sending: {
        routes: [
          pushRoute(anything, anything),
          statusRoute(anything),
          ...notificationRoutes(anything),
        ],
        check: anything,
        journal: anything,
        evaluator: anything,
      },
      access: anything,
      housekeeping: anything,
      feed: anything,
      origins: anything,
      readiness: anything,
      metrics: anything,
      readSystem: anything,
    },
  );
  return makeDocument(routes);
}
