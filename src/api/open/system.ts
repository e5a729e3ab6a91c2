/** The state of the installation, for its operator: with OPERATOR_TOKEN, and in the console. */

import { listClients } from '../../clients/find-client.ts';
import type { ListedNode } from '../../database/nodes/list-nodes.ts';
import type { Sql } from '../../database/sql.ts';
import type { StoreState } from '../../database/write-probe.ts';
import type { AccountRoute, OperatorRoute } from '../../http/handler.ts';
import { json } from '../../http/json-body.ts';
import type { CredentialReading } from '../../provider-credentials/credential-watch.ts';
import type { CircuitReading } from '../../push/dispatch/circuit-breakers.ts';
import type { ProviderReading } from '../../push/protocol/worker-totals.ts';
import type { QueueReading } from '../../push/sql/read-queue.ts';

type ProviderConnections = Pick<
  ProviderReading,
  'provider' | 'connections' | 'streams' | 'connectFailures'
>;

export interface SystemState {
  readonly version: string;
  /** Of the installation, the newest first; the others are of the node that answers. */
  readonly nodes: readonly ListedNode[];
  readonly stores: { readonly postgres: StoreState; readonly redis?: 'ok' | 'unavailable' };
  /** Null: the database is its own index. */
  readonly index: {
    readonly isReachable: boolean;
    readonly groupsWaiting: number;
    readonly groupsRepaired: number;
  } | null;
  readonly providers: {
    /** Those that fail for everyone. */
    readonly openCircuits: readonly CircuitReading[];
    readonly credentials: readonly CredentialReading[];
    /** Open ones of each provider that was ever sent to, and the sends on them. */
    readonly connections: readonly ProviderConnections[];
  };
  /** Of the installation, but for the registrations. */
  readonly queue: QueueReading & { readonly registrations: number };
}

export interface SystemParts {
  readonly sql: Sql;
  readSystem(): Promise<SystemState>;
}

/** `GET system` of the console. */
export const consoleSystemRoute = ({ readSystem }: SystemParts): AccountRoute => ({
  api: 'console',
  needs: 'operator',
  operation: 'getConsoleSystem',
  method: 'GET',
  path: '/console/api/system',
  bodyBytesMax: 0,
  handle: async () => json(await readSystem()),
});

/** `/operator/v1`: the same, and the clients. */
export const operatorRoutes = ({ sql, readSystem }: SystemParts): readonly OperatorRoute[] => [
  {
    api: 'operator',
    operation: 'getSystem',
    method: 'GET',
    path: '/operator/v1/system',
    bodyBytesMax: 0,
    handle: async () => json(await readSystem()),
  },
  {
    api: 'operator',
    operation: 'listClients',
    method: 'GET',
    path: '/operator/v1/clients',
    bodyBytesMax: 0,
    handle: async () => {
      const clients = await listClients(sql);
      return json(
        clients.map(({ slug, name, disabled, left }) => ({
          clientId: slug,
          name,
          isDisabled: disabled,
          ...(left === null ? {} : { deleted: left }),
        })),
      );
    },
  },
];
