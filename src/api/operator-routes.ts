/** The operator's routes, on `/operator/v1`: with OPERATOR_TOKEN, or on the engine's socket. */

import type { Logger } from 'pino';
import type { CancelJobs } from '../access/cancel-jobs.ts';
import { accountRoutes } from '../access/routes/operator-accounts.ts';
import { clientCredentialRoutes } from '../access/routes/operator-credentials.ts';
import { clientMemberRoutes } from '../access/routes/operator-members.ts';
import type { Secrets } from '../access/secrets.ts';
import type { GivenAttributes } from '../attributes/given-attributes.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { clientAppRoutes } from '../catalogue/routes/operator-apps.ts';
import { clientRoutes } from '../clients/routes/operator-clients.ts';
import type { SqlPool } from '../database/sql.ts';
import type { Importer } from '../devices/import/importer.ts';
import { deviceTransferRoutes } from '../devices/routes/operator-devices.ts';
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
  /** The log of the engine, or of the command where it runs on the database itself. */
  readonly log: Logger;
  readonly cancelJobs: CancelJobs;
  readonly catalogue: Catalogue;
  /** Commits the devices that an operator imports. */
  readonly importer: Importer;
  /** Finds what the attributes of imported devices are. */
  readonly attributes: GivenAttributes;
}

export const operatorRoutes = (api: OperatorApi): readonly Route[] => [
  ...clientRoutes(api),
  ...clientCredentialRoutes(api),
  ...clientAppRoutes(api),
  ...appCredentialRoutes(api),
  ...accountRoutes(api),
  ...clientMemberRoutes(api),
  ...deviceTransferRoutes(api),
  ...heldDeletionRoutes(api),
  ...parkedRoutes(api),
  secretKeyRoute(api),
];
