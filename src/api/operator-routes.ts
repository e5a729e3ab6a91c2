/** What an operator may do, on `/operator/v1`: with OPERATOR_TOKEN, or on the engine's socket. */

import { clientCredentialRoutes } from '../access/routes/operator-credentials.ts';
import type { Secrets } from '../access/secrets.ts';
import { clientAppRoutes } from '../catalogue/routes/operator-apps.ts';
import { clientRoutes } from '../clients/routes/operator-clients.ts';
import type { SqlPool } from '../database/sql.ts';
import type { Route } from '../http/handler.ts';
import type { Check } from '../provider-credentials/provider-check.ts';
import { appCredentialRoutes } from '../provider-credentials/routes/operator-app-platforms.ts';
import type { ProviderOrigins } from '../providers/origins.ts';
import { heldDeletionRoutes } from '../push/routes/operator-deletions.ts';
import { parkedRoutes } from '../push/routes/operator-parked.ts';
import { secretKeyRoute } from './secret-key/operator-secret-key.ts';

interface OperatorApi {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
  /** The operator's settings of the providers' addresses: a credential may name only these. */
  readonly origins: ProviderOrigins;
  readonly check: Check;
}

export const operatorRoutes = (api: OperatorApi): readonly Route[] => [
  ...clientRoutes(api),
  ...clientCredentialRoutes(api),
  ...clientAppRoutes(api),
  ...appCredentialRoutes(api),
  ...heldDeletionRoutes(api),
  ...parkedRoutes(api),
  secretKeyRoute(api),
];
