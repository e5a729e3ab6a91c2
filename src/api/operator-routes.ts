/** What an operator may do, on `/operator/v1`: with OPERATOR_TOKEN, or on the engine's socket. */

import type { Logger } from 'pino';
import type { CancelJobs } from '../access/cancel-jobs.ts';
import { accountRoutes } from '../access/routes/operator-accounts.ts';
import { clientMemberRoutes } from '../access/routes/operator-members.ts';
import type { Secrets } from '../access/secrets.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { clientRoutes } from '../clients/routes/operator-clients.ts';
import type { SqlPool } from '../database/sql.ts';
import type { Importer } from '../devices/import/importer.ts';
import { deviceTransferRoutes } from '../devices/routes/operator-devices.ts';
import type { Route } from '../http/handler.ts';
import { heldDeletionRoutes } from '../push/routes/operator-deletions.ts';
import { parkedRoutes } from '../push/routes/operator-parked.ts';

interface OperatorApi {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
  /** Of the engine, or of the command where it runs on the database itself. */
  readonly log: Logger;
  readonly cancelJobs: CancelJobs;
  readonly catalogue: Catalogue;
  /** Commits the devices that an operator imports. */
  readonly importer: Importer;
}

export const operatorRoutes = (api: OperatorApi): readonly Route[] => [
  ...clientRoutes(api),
  ...accountRoutes(api),
  ...clientMemberRoutes(api),
  ...deviceTransferRoutes(api),
  ...heldDeletionRoutes(api),
  ...parkedRoutes(api),
];
