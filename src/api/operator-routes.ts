/** What an operator may do, on `/operator/v1`: with OPERATOR_TOKEN, or on the engine's socket. */

import { clientCredentialRoutes } from '../access/routes/operator-credentials.ts';
import type { Secrets } from '../access/secrets.ts';
import { clientRoutes } from '../clients/routes/operator-clients.ts';
import type { SqlPool } from '../database/sql.ts';
import type { Route } from '../http/handler.ts';
import { heldDeletionRoutes } from '../push/routes/operator-deletions.ts';
import { parkedRoutes } from '../push/routes/operator-parked.ts';

interface OperatorApi {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
}

export const operatorRoutes = (api: OperatorApi): readonly Route[] => [
  ...clientRoutes(api),
  ...clientCredentialRoutes(api),
  ...heldDeletionRoutes(api),
  ...parkedRoutes(api),
];
